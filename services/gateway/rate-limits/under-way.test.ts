import { expect, test } from 'vitest'
import { createUnderWay } from './under-way.ts'

const refused = expect.objectContaining({ code: 8, reason: 'TOO_MUCH_UNDER_WAY', retryAfter: 1 })
const limits = { inAll: 8_000, perConnection: 2_000 }

test('a connection, an address, a kind and all together have limits of their own', () => {
  const underWay = createUnderWay(limits)
  const connection = {}
  underWay.open('call', connection, 'a').take(1_000)
  expect(() => underWay.open('call', {}, 'a').take(1)).toThrow(refused)
  underWay.open('call', connection, 'b').take(1_000)
  expect(() => underWay.open('call', connection, 'c').take(1)).toThrow(refused)
  underWay.open('call', {}, 'c').take(1_000)

  for (const address of ['d', 'e', 'f', 'g', 'h', 'i', 'j', 'k']) underWay.open('public', {}, address).take(500)
  expect(() => underWay.open('public', {}, 'l').take(1)).toThrow(refused)
  underWay.open('call', {}, 'l').take(1_000)
  expect(() => underWay.open('call', {}, 'm').take(1)).toThrow(refused)
})

test('a request that ends makes room, and a refused one takes none', () => {
  const underWay = createUnderWay(limits)
  const connection = {}
  const hold = underWay.open('call', connection, 'a')
  hold.take(900)
  expect(() => hold.take(200)).toThrow(refused)
  hold.take(100)
  hold.end()
  underWay.open('call', connection, 'a').take(1_000)
})

test('answers count, but are never refused themselves', () => {
  const underWay = createUnderWay(limits)
  const hold = underWay.open('call', {}, 'a')
  hold.add(50_000)
  expect(() => underWay.open('public', {}, 'b').take(1)).toThrow(refused)
  hold.end()
  underWay.open('public', {}, 'b').take(1)
})

test('work that goes on after its request has ended changes no count', () => {
  const underWay = createUnderWay(limits)
  const connection = {}
  const hold = underWay.open('call', connection, 'a')
  hold.take(500)
  hold.end()
  hold.add(-500)
  hold.take(100)
  hold.add(5_000)
  const next = underWay.open('call', connection, 'a')
  next.take(1_000)
  expect(() => next.take(1)).toThrow(refused)
})
