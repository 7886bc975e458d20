/* The smallest program: makes a context with its own log, prints the versions of header and library.
 *
 *   cc context.c $(pkg-config --cflags --libs yoke) */
#include <stdio.h>

#include <yoke/base.h>

static void print_message(void *user, yk_log_level level, const char *message)
{
    (void)level;
    fprintf(user, "%s\n", message);
}

int main(void)
{
    yk_context_def def = yk_context_default();
    def.log = print_message;
    def.log_user = stdout;
    def.log_level = YK_LOG_INFO;
    yk_context *context = yk_context_create(&def);
    if (!context) {
        fprintf(stderr, "%s\n", yk_status_text(YK_ERROR_MEMORY));
        return 1;
    }
    yk_log(context, YK_LOG_INFO, "headers of Yoke %d.%d.%d, library %s, %d threads", YK_VERSION_MAJOR, YK_VERSION_MINOR,
           YK_VERSION_PATCH, yk_version(), yk_context_threads(context));
    yk_context_destroy(context);
    return 0;
}
