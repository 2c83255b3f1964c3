// The loader's entry points, found at run time: nothing links to libvulkan.
#define VOLK_IMPLEMENTATION
#include <volk.h>
