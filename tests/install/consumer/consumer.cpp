#include <cstdio>

extern "C" const char* concord_version();

int main() {
  std::printf("concord %s\n", concord_version());
  return 0;
}
