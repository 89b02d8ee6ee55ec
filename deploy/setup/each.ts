const atOnce = 16

/** Does the work for each of them, some at a time. Begins no more after one that failed, and throws its error. */
export async function each<T>(all: readonly T[], work: (one: T) => Promise<void>): Promise<void> {
  const open = all.values()
  let failed = false
  await Promise.all(
    Array.from({ length: Math.min(atOnce, all.length) }, async () => {
      for (const one of open) {
        if (failed) return
        try {
          await work(one)
        } catch (error) {
          failed = true
          throw error
        }
      }
    }),
  )
}
