import { type AggregateKey, type Existing, keyText, type Read, type Aggregate } from '#lib/eventstore/aggregate'
import type { Context } from './context.ts'

/**
 * The context of a request that only reads: each aggregate and application is read once, so that all that it shows is of
 * one moment.
 */
export function rememberReads(context: Context): Context {
  const known = new Map<string, Promise<Read<Aggregate>>>()
  const read = <State>(key: AggregateKey<State>) => {
    const text = keyText(key)
    let reading = known.get(text)
    if (!reading) known.set(text, (reading = context.store.read(key)))
    return reading as Promise<Read<Aggregate<State>>>
  }
  const load = async <State>(type: string, id: string) => {
    const aggregate = await read<State>({ type, id })
    return aggregate.state === undefined ? undefined : (aggregate as Read<Existing<State>>)
  }
  return { ...context, remembered: new Map(), store: { ...context.store, read, load } }
}
