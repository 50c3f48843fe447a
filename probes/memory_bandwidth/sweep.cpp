int unused_for_now = 0;
