/* 64 threads append to a journal. Each holds one lock while it waits for the disk. */

#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

#define THREADS 64
#define ENTRIES 8

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int journal;

static void *append(void *worker) {
  char line[64];
  for (int entry = 0; entry < ENTRIES; entry++) {
    int length = snprintf(line, sizeof line, "worker %ld entry %d\n", (long)worker, entry);
    pthread_mutex_lock(&lock);
    if (write(journal, line, length) != length) _exit(1);
    fsync(journal);
    pthread_mutex_unlock(&lock);
  }
  return NULL;
}

int main(void) {
  pthread_t threads[THREADS];
  journal = open("journal.db", O_CREAT | O_WRONLY | O_APPEND, 0600);
  for (long at = 0; at < THREADS; at++) pthread_create(&threads[at], NULL, append, (void *)at);
  for (int at = 0; at < THREADS; at++) pthread_join(threads[at], NULL);
  return 0;
}
