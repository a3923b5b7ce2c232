#include <pthread.h>
#include <unistd.h>
#include <sys/wait.h>
static void *worker(void *unused) { for (int i = 0; i < 20; i++) usleep(500); return unused; }
static void child(void) { usleep(3000); _exit(3); }
int main(void)
{
    pthread_t threads[3];
    for (int i = 0; i < 3; i++) pthread_create(&threads[i], 0, worker, 0);
    if (fork() == 0) child();
    wait(0);
    for (int i = 0; i < 3; i++) pthread_join(threads[i], 0);
    return 0;
}
