#include "CCoreBluetooth.h"

// Raw values are an Int of Swift.
_Static_assert(sizeof(CBErrorCode) == sizeof(void *), "an enumeration is as wide as a pointer");
