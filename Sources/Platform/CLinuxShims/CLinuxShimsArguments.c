/* Swift reads the words of the command line from /proc/self/cmdline. They are missing there if a preloaded library changes
   how files are opened. The C library passes them to each function of .init_array; the runtime takes them from here. */
extern void _swift_stdlib_overrideUnsafeArgvArgc(char **words, int count) __attribute__((weak));

static void pass_arguments(int count, char **words, char **environment) {
    (void)environment;
    if (_swift_stdlib_overrideUnsafeArgvArgc) _swift_stdlib_overrideUnsafeArgvArgc(words, count);
}

__attribute__((section(".init_array"), used)) static void (*const pass_arguments_first)(int, char **, char **) =
    pass_arguments;
