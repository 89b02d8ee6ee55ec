import { expect, test } from 'vitest'
import { keepingLog } from '#test/support/rpc'
import { createWaits, readWaits } from './waits.ts'

const kept = () => {
  const { log, lines } = keepingLog()
  const said = () => lines.map((line) => (JSON.parse(line) as { msg: string }).msg)
  return { waits: createWaits(log), said }
}

test('the log hears once that a wait begins, however often it fails, and once that it ends', () => {
  const { waits, said } = kept()
  for (let n = 0; n < 3; n++) waits.begin('PostgreSQL', new Error('no'))
  waits.begin('Redis', new Error('no'))
  for (let n = 0; n < 3; n++) waits.end('PostgreSQL')
  expect(said()).toEqual(['waiting for PostgreSQL', 'waiting for Redis', 'no longer waiting for PostgreSQL'])
})

test('a wait says since when it lasts, and another reader understands it', () => {
  const { waits } = kept()
  waits.begin('SMTP', new Error('no'), Date.UTC(2026, 10, 22, 14))
  waits.begin('SMTP', new Error('still no'))
  waits.begin('NATS', new Error('no'), Date.UTC(2026, 10, 22, 15))
  expect(readWaits(String(waits))).toEqual({ SMTP: '2026-11-22T14:00:00.000Z', NATS: '2026-11-22T15:00:00.000Z' })
  waits.end('SMTP')
  waits.end('NATS')
  expect(readWaits(String(waits))).toEqual({})
})

test('that two primaries take writes is named before what may come of it', () => {
  const { waits } = kept()
  for (const server of ['NATS', 'PostgreSQL', 'SinglePrimary'] as const) waits.begin(server, new Error('no'))
  expect(Object.keys(readWaits(String(waits)))).toEqual(['SinglePrimary', 'PostgreSQL', 'NATS'])
})

test('nothing but known servers and times is read', () => {
  const at = '2026-11-22T14:00:00.000Z'
  expect(readWaits(`Me ${at}, Redis now, NATS <b>${at}</b>, Redis ${at}, __proto__ ${at}`)).toEqual({ Redis: at })
})
