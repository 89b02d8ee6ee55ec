import type { Sql } from '#lib/eventstore/database'

/** What runs before a statement: each setting is what it was when the session began. */
const asAtFirst = 'reset all'

/** What begins no statement, and what is guarded below. Another function of the driver might begin one. */
const known = new Set(['unsafe', 'begin', 'json', 'array', 'typed', 'types', 'close', 'end', 'CLOSE', 'END'])

const unguarded = new WeakMap<object, Sql>()

/**
 * Gives each statement of a session, also within transactions, the settings of the session's beginning. Should code of a
 * service ever run in the session, then it changes no setting for the statements that come after it: not where names
 * lead, whose rows are seen, how times are written, or how long a statement may take. `settings` are statements that
 * run before each of these, too. Throws where a function of the driver is asked for that would go past this.
 */
export function guard<S extends Pick<Sql, 'unsafe'>>(sql: S, ...settings: string[]): S {
  const before = [asAtFirst, ...settings].join(';')
  const own = (unguarded.get(sql) ?? sql) as unknown as Sql
  const guarded = (made: unknown) => {
    if (!isQuery(made)) return made
    const handle = made.handle.bind(made)
    made.handle = async () => {
      // The driver sends both in this order. What ends the first one, such as a lost connection, ends the second, too.
      if (!made.executed) own.unsafe(before).catch(() => {})
      return handle()
    }
    return made
  }
  const proxy = new Proxy(own, {
    apply: (target, self, args) => guarded(Reflect.apply(target, self, args)),
    get(target, key) {
      const value: unknown = Reflect.get(target, key)
      if (typeof value === 'function' && !known.has(String(key))) throw new Error(`${String(key)} has no guard`)
      if (key === 'unsafe') return (...args: [string]) => guarded(target.unsafe(...args))
      if (key === 'begin')
        return (...args: unknown[]) => {
          const work = args.pop() as (transaction: Sql) => unknown
          return Reflect.apply(target.begin, target, [...args, (transaction: Sql) => work(guard(transaction))])
        }
      return value
    },
  })
  unguarded.set(proxy, own)
  return proxy as unknown as S
}

/** A statement of the driver. It may be a part of another one, and then it never begins by itself. */
interface Query {
  executed: boolean
  handle(): Promise<unknown>
}

function isQuery(made: unknown): made is Query {
  return made instanceof Promise && 'handle' in made && 'executed' in made
}
