/* Replaces live.c if the program was built without libmicrohttpd. */
#include <stdio.h>

#include "cli.h"
#include "live.h"

live_view *live_open(int port)
{
    (void)port;
    print_err("yoke: this program was built without libmicrohttpd, which --live needs: install "
              "libmicrohttpd-dev and build it again\n");
    return NULL;
}

yk_recorder *live_recorder(live_view *view, double samples)
{
    (void)view;
    (void)samples;
    return NULL;
}

yk_status live_attach(live_view *view, const yk_scenario_info *info, yk_system *system, bool paced)
{
    (void)view;
    (void)info;
    (void)system;
    (void)paced;
    return YK_OK;
}

const char *live_changes(const live_view *view)
{
    (void)view;
    return NULL;
}

void live_loading(live_view *view, const char *message)
{
    (void)view;
    (void)message;
}

void live_settling(live_view *view, const yk_settling *settling)
{
    (void)view;
    (void)settling;
}

void live_progress(live_view *view, const yk_run_progress *progress)
{
    (void)view;
    (void)progress;
}

void live_close(live_view *view)
{
    (void)view;
}
