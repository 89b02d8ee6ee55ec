import { pino } from 'pino'
import { beforeEach, expect, test } from 'vitest'
import { watchProxies } from './watch-proxies.ts'

let lines: { level: number; msg: string }[]

beforeEach(() => {
  lines = []
})

function watch(proxies: number) {
  return watchProxies(proxies, pino({}, { write: (line) => void lines.push(JSON.parse(line) as (typeof lines)[0]) }))
}

test('a proxy that nobody named is warned of once, also where it is one of a few', () => {
  const see = watch(0)
  for (let n = 0; n < 99; n++) see(`10.0.0.${n % 3}`, true)
  expect(lines).toEqual([])
  for (let n = 0; n < 1000; n++) see('10.0.0.1', true)
  expect(lines).toEqual([
    expect.objectContaining({ level: 40, msg: expect.stringContaining('set TRUSTED_PROXIES to') }),
  ])
})

test('clients that send the header by themselves are no proxy: others send none, or they are many', () => {
  const see = watch(0)
  for (let n = 0; n < 1000; n++) see(n % 50 === 0 ? '10.0.0.2' : '10.0.0.1', n % 50 !== 0)
  for (let n = 0; n < 1000; n++) see(`10.0.0.${n % 5}`, true)
  expect(lines).toEqual([])
})

test('a proxy that is named but not there is warned of once', () => {
  const see = watch(1)
  for (let n = 0; n < 1000; n++) see(`10.0.0.${n % 99}`, n % 99 === 0)
  expect(lines).toEqual([])
  for (let n = 0; n < 1000; n++) see(`10.0.0.${n % 99}`, false)
  expect(lines).toEqual([expect.objectContaining({ level: 40, msg: expect.stringContaining('set it to 0') })])
})

test('what is as it was set up is not warned of', () => {
  const [none, one] = [watch(0), watch(1)]
  for (let n = 0; n < 1000; n++) {
    none('10.0.0.1', false)
    one('10.0.0.1', true)
  }
  expect(lines).toEqual([])
})
