/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* libautoschedule_mullapudi2016.so, for build files and programs that load the autoscheduler by the
 * name of a file. The autoscheduler itself is part of the compiler, so that this library goes with
 * programs that are linked in any way, and loading it changes nothing. */

const char *calotype_autoscheduler_name(void);

const char *calotype_autoscheduler_name(void) {
    return "Mullapudi2016";
}
