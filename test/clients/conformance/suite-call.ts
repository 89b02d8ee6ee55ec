import { AsyncLocalStorage } from 'node:async_hooks'
import type { JsonObject } from '@bufbuild/protobuf'

/** A header or trailer of the suite. */
export interface SuiteHeader {
  name: string
  value: string[]
}

/** What the suite and its service exchange about a call beside the messages. */
export interface SuiteCall {
  requestHeaders: SuiteHeader[]
  queryParams: SuiteHeader[]
  timeout?: number | undefined
  responseHeaders: SuiteHeader[]
  responseTrailers: SuiteHeader[]
  /** The details of the error, each as an Any in JSON. */
  details: JsonObject[]
}

const calls = new AsyncLocalStorage<SuiteCall>()

/** The call under way. What is no call, such as a broken request, has an empty one. */
export function suiteCall(): SuiteCall {
  return calls.getStore() ?? newCall([], '')
}

/** Does the work of a call that came with these headers and this query. */
export function inSuiteCall<T>(raw: readonly string[], query: string, work: (call: SuiteCall) => T): T {
  const call = newCall(raw, query)
  return calls.run(call, () => work(call))
}

/** The headers as Node takes them. */
export function asRecord(headers: SuiteHeader[], prefix = ''): Record<string, string[]> {
  return Object.fromEntries(headers.map(({ name, value }) => [prefix + name.toLowerCase(), value]))
}

function newCall(raw: readonly string[], query: string): SuiteCall {
  return {
    requestHeaders: byName(raw.flatMap((name, at) => (at % 2 === 0 ? [[name.toLowerCase(), raw[at + 1]!]] : []))),
    queryParams: byName([...new URLSearchParams(query)]),
    responseHeaders: [],
    responseTrailers: [],
    details: [],
  }
}

function byName(pairs: string[][]): SuiteHeader[] {
  return Object.entries(Object.groupBy(pairs, ([name]) => name!)).map(([name, all]) => ({
    name,
    value: all!.map(([, value]) => value!),
  }))
}
