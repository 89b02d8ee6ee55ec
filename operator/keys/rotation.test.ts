import { randomBytes } from 'node:crypto'
import { expect, test } from 'vitest'
import { encryptionKey } from '#lib/encryption/keys'
import { deriveKeys } from '../../deploy/derive-keys.ts'
import { nextStep, type Rotation } from './rotation.ts'

const key = () => randomBytes(32).toString('base64')
const [minute, day] = [60_000, 86_400_000]
const start = Date.UTC(2026, 0, 1)
const options = { keepFor: day, makeKey: key, isRolling: true }
const later = (milliseconds: number) => new Date(start + milliseconds)

function walk(isRolling: boolean): string[] {
  let [root, rotation, at]: [string, Rotation | undefined, number] = [key(), undefined, 0]
  const roots = [root]
  do {
    ;({ root, rotation } = nextStep(root, rotation, later(at), { ...options, isRolling }))
    roots.push(root)
    at += 2 * day
  } while (rotation)
  return roots
}

test.each([true, false])(
  'at each step, what one service encrypts its neighbour decrypts (rolling: %s)',
  (isRolling) => {
    const roots = walk(isRolling)
    const rings = roots.map((root) => encryptionKey.read(deriveKeys(root).users['ROSTER_ENCRYPTION_KEY']!))
    for (const [index, ring] of rings.entries()) {
      const before = rings[index - 1]
      if (!before) continue
      expect(ring.decrypt('purpose', before.encrypt('purpose', 'text'))).toBe('text')
      if (isRolling) expect(before.decrypt('purpose', ring.encrypt('purpose', 'text'))).toBe('text')
    }
    expect(rings.at(-1)!.currentId).not.toBe(rings[0]!.currentId)
  },
)

test.each([true, false])('at each step, the services know the key that the gateway signs with (rolling: %s)', () => {
  for (const root of walk(true)) {
    const { users, gateway } = deriveKeys(root)
    const [signing] = /users:([^,]+)/.exec(gateway['ROSTER_CALLER_KEYS']!)!.slice(1)
    expect(users['ROSTER_CALLER_KEY']!.split(',')).toContain(signing)
  }
})

test('no step comes too early', () => {
  const first = nextStep(key(), undefined, later(0), options)
  expect(() => nextStep(first.root, first.rotation, later(minute), options)).toThrow('is due at 2026-01-01T00:02')
  const second = nextStep(first.root, first.rotation, later(3 * minute), options)
  expect(() => nextStep(second.root, second.rotation, later(day), options)).toThrow('is due at 2026-01-02T00:03')
  const third = nextStep(second.root, second.rotation, later(2 * day), options)
  expect([first, second, third].map(({ loses }) => loses)).toEqual([false, false, true])
})

test('a root that somebody else changed is left alone', () => {
  const { rotation } = nextStep(key(), undefined, later(0), options)
  expect(() => nextStep(`${key()},${key()}`, rotation, later(day), options)).toThrow('It was changed meanwhile')
  expect(() => nextStep(`${key()},${key()}`, undefined, later(0), options)).toThrow('several keys')
})

test.each([true, false])('a step that ended halfway is taken by the next call (rolling: %s)', (isRolling) => {
  const own = { ...options, isRolling }
  let root = key()
  let rotation: Rotation | undefined
  for (let at = 0; at < 20 * day; at += 2 * day) {
    const planned = nextStep(root, rotation, later(at), own)
    // The note is written, and the root is not; at the end it is the other way round.
    const halfway = planned.rotation ? { root, rotation: planned.rotation } : { root: planned.root, rotation }
    const again = nextStep(halfway.root, halfway.rotation, later(at + minute), own)
    expect(again.rotation?.step).toBe(planned.rotation?.step)
    expect(again.root.split(',').length).toBe(planned.root.split(',').length)
    ;({ root, rotation } = again)
    if (!rotation) return
  }
  expect.fail('the rotation did not end')
})
