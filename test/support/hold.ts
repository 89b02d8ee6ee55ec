import type { Sql } from '#lib/database/database'

/**
 * Stands between a store and its database and holds appends back. `hold()` gives a promise that resolves when the next
 * append is ready; `release()` sends it. So a test can always let another replica be faster.
 */
export function createHold() {
  let held: { arrived: PromiseWithResolvers<void>; released: PromiseWithResolvers<void> } | undefined

  async function pass<T>(work: () => PromiseLike<T>): Promise<T> {
    const own = held
    held = undefined
    own?.arrived.resolve()
    await own?.released.promise
    return work()
  }

  return {
    wrap(sql: Sql): Sql {
      return new Proxy(sql, {
        apply(target, self, [strings, ...values]: [TemplateStringsArray, ...never[]]) {
          const run = () => Reflect.apply(target, self, [strings, ...values])
          return Array.isArray(strings) && strings.join().includes('append(') ? pass(run) : run()
        },
        get(target, key) {
          if (key !== 'begin') return Reflect.get(target, key)
          return (...args: [never]) => pass(() => target.begin(...args))
        },
      })
    },
    hold() {
      held = { arrived: Promise.withResolvers(), released: Promise.withResolvers() }
      const { arrived, released } = held
      return { arrived: arrived.promise, release: () => released.resolve() }
    },
  }
}
