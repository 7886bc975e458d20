/* The whole public interface, for programs that build, run and read systems.
 *
 * A plug-in needs yoke/plugin.h only, a subsystem of your own yoke/subsystem.h, a scheme of your own
 * yoke/scheme_ops.h. Programs of others have headers of their own (yoke/mbdyn.h, yoke/precice.h), because a build may leave
 * them out. docs/c-api.md is the guide. */
#ifndef YOKE_YOKE_H
#define YOKE_YOKE_H

#include "yoke/access.h"
#include "yoke/analysis.h"
#include "yoke/base.h"
#include "yoke/contact.h"
#include "yoke/control.h"
#include "yoke/hydraulic.h"
#include "yoke/ids.h"
#include "yoke/mechanics.h"
#include "yoke/multibody.h"
#include "yoke/nonsmooth.h"
#include "yoke/option.h"
#include "yoke/oscillator.h"
#include "yoke/record.h"
#include "yoke/remote.h"
#include "yoke/scenario.h"
#include "yoke/scheme_ops.h"
#include "yoke/schemes.h"
#include "yoke/status.h"
#include "yoke/subsystem.h"
#include "yoke/system.h"

#endif
