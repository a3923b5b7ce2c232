/* Looks up the quota of each file system. Each look-up waits for the disk, which a sleep stands for here. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static int quota_lookup(const char *name)
{
    struct stat found;
    usleep(2000);
    return stat(name, &found);
}

static void quota_print(int count)
{
    char text[64];
    int length = snprintf(text, sizeof text, "%d file systems\n", count);
    if (write(1, text, length) < 0)
        exit(1);
}

int main(void)
{
    char name[64];
    int found = 0;
    for (int i = 0; i < 297; i++) {
        snprintf(name, sizeof name, "/fs/%d/.quota", i);
        found += quota_lookup(name) == 0;
    }
    quota_print(found);
    return 0;
}
