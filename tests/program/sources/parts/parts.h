#pragma once
int sum_on_device(const int *values, int n);
extern "C" int twice(int x);
