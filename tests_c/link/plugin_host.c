/* SPDX-License-Identifier: Apache-2.0 */
/* Opens a shared object that was linked with the library, and calls what linked.c has in it. */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

int main(int argc, char **argv)
{
    int (*plugin_main)(void);
    void *const plugin = argc == 2 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : 0;
    void *const symbol = plugin ? dlsym(plugin, "plugin_main") : 0;
    if (!symbol) {
        fprintf(stderr, "%s\n", argc == 2 ? dlerror() : "usage: plugin_host FILE");
        return 1;
    }
    memcpy(&plugin_main, &symbol, sizeof(symbol));
    const int status = plugin_main();
    /* The library stays when the plugin goes. */
    return dlclose(plugin) == 0 ? status : 1;
}
