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

test('the log warns once of an uncounted proxy, also where it is one of a few', () => {
  const see = watch(0)
  for (let n = 0; n < 99; n++) see(`10.0.0.${n % 3}`, true)
  expect(lines).toEqual([])
  for (let n = 0; n < 1000; n++) see('10.0.0.1', true)
  expect(lines).toEqual([
    expect.objectContaining({ level: 40, msg: expect.stringContaining('set TRUSTED_PROXIES to') }),
  ])
})

test('clients that send the header themselves are no proxies: other clients send none, or they are many', () => {
  const see = watch(0)
  for (let n = 0; n < 1000; n++) see(n % 50 === 0 ? '10.0.0.2' : '10.0.0.1', n % 50 !== 0)
  for (let n = 0; n < 1000; n++) see(`10.0.0.${n % 5}`, true)
  expect(lines).toEqual([])
})

test('the log warns once of a counted proxy that is missing', () => {
  const see = watch(1)
  for (let n = 0; n < 1000; n++) see(`10.0.0.${n % 99}`, n % 99 === 0)
  expect(lines).toEqual([])
  for (let n = 0; n < 1000; n++) see(`10.0.0.${n % 99}`, false)
  expect(lines).toEqual([expect.objectContaining({ level: 40, msg: expect.stringContaining('set it to 0') })])
})

test('calls that agree with the setting cause no warning', () => {
  const [none, one] = [watch(0), watch(1)]
  for (let n = 0; n < 1000; n++) {
    none('10.0.0.1', false)
    one('10.0.0.1', true)
  }
  expect(lines).toEqual([])
})
