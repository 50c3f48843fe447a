int unused_for_now_2 = 0;
