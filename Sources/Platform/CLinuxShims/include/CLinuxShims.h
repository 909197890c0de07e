// System calls and macros that Swift's Glibc module does not show. No logic: one header and one source file a concern.
#ifndef CLINUXSHIMS_H
#define CLINUXSHIMS_H

#include "CLinuxShimsAttributes.h"
#include "CLinuxShimsDatagrams.h"
#include "CLinuxShimsEvents.h"
#include "CLinuxShimsFiles.h"
#include "CLinuxShimsLandlock.h"
#include "CLinuxShimsNamespaces.h"
#include "CLinuxShimsNotify.h"
#include "CLinuxShimsPeer.h"
#include "CLinuxShimsProcess.h"
#include "CLinuxShimsResolver.h"
#include "CLinuxShimsSeccomp.h"

#endif
