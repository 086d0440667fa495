#include "torch/lib.h"
int classify_init(void)
{
    return 0;
}
