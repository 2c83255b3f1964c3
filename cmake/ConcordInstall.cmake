# cmake --install: bin/concord, lib/libconcord.so and its modules, lib/concord/ (what they bring
# along), include/concord, lib/cmake/Concord (find_package(Concord)). Relocatable: RPATHs are
# relative, so any prefix will do.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)
