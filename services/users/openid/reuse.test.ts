import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { firstToken, nextToken, type RefreshToken, type RefreshTokens } from './events/refresh-tokens.ts'
import { type RefreshUse, useOf } from './reuse.ts'

const begin = Date.parse('2030-01-01T00:00:00Z')
const [second, day] = [1000, 86_400_000]
const token = (number: number): RefreshToken => ({ number, step: `step ${number}` })

/** The refresh tokens of one authorization, and what all who have some of them do. */
class Life {
  now = begin
  tokens: RefreshTokens = firstToken({ ...token(1), expiresAt: '' }, new Date(begin))
  /** All first uses since the beginning, by number: what `tokens` may have forgotten. */
  readonly firstUses = new Map<number, number>()
  isOver = false

  present(presented: RefreshToken): RefreshUse {
    const now = new Date(this.now)
    const use = useOf(this.tokens, presented, now)
    if (use === 'stolen') this.isOver = true
    if (use === 'first') {
      this.firstUses.set(presented.number, this.now)
      this.tokens = nextToken(this.tokens, { ...token(presented.number + 1), expiresAt: '' }, now)
    }
    return use
  }

  /** The table of docs/contract.md, over the whole history. */
  meant({ number, step }: RefreshToken): RefreshUse {
    const newest = this.firstUses.size + 1
    const since = (k: number) => this.now - this.firstUses.get(k)!
    const recent = [...this.firstUses.keys()].filter((k) => since(k) <= 30 * second)
    if (step !== token(number).step || number > newest) return 'stolen'
    if (number === newest)
      return recent.length < 60 ? 'first' : { retryAfter: Math.max(1, Math.ceil(30 - since(recent.at(-60)!) / second)) }
    const stillMay = since(number) <= (number === newest - 1 ? day : 30 * second)
    return stillMay ? { successor: token(number + 1) } : 'stolen'
  }
}

/** What somebody gets for a token that is right. */
const got = (presented: RefreshToken, use: RefreshUse) =>
  use === 'first'
    ? token(presented.number + 1)
    : typeof use === 'object' && 'successor' in use
      ? use.successor
      : undefined

const pause = fc.oneof(
  { weight: 200, arbitrary: fc.constant(0) },
  { weight: 20, arbitrary: fc.integer({ min: 0, max: 2 * second }) },
  fc.constantFrom(30 * second, 30 * second + 1, day, day + 1),
)
/** How many tokens before the newest. */
const age = fc.oneof({ weight: 20, arbitrary: fc.constant(0) }, fc.integer({ min: 1, max: 6 }))
/** Now and then it is one of another life of the database, or one that is yet to come. */
const strange = fc.integer({ min: 0, max: 300 })
const manySteps = { minLength: 100, maxLength: 300 }

describe('who presents a refresh token', () => {
  test('is answered by the table, whatever happened before and was forgotten since', () => {
    const presentation = fc.record({ pause, age, strange })
    fc.assert(
      fc.property(fc.array(presentation, manySteps), (all) => {
        const life = new Life()
        for (const { pause: passed, age: before, strange: kind } of all) {
          life.now += passed
          const number = Math.max(1, life.tokens.newest.number - (kind === 1 ? -1 : before))
          const presented = kind === 0 ? { number, step: 'of another life' } : token(number)
          const meant = life.meant(presented)
          expect(life.present(presented)).toEqual(meant)
          expect(life.tokens.used.length).toBeLessThanOrEqual(61)
          if (life.isOver) return
        }
      }),
      { numRuns: 200 },
    )
  })

  test.each([31 * second, day, 89 * day])('is a thief where the successor was used and %i ms passed', (passed) => {
    const life = new Life()
    for (const number of [1, 2]) life.present(token(number))
    life.now += passed
    expect(life.present(token(1))).toBe('stolen')
  })

  test('is never signed out as five tabs that share one store, lose answers and send the same at once', () => {
    const step = fc.record({
      tab: fc.integer({ min: 0, max: 4 }),
      pause: fc.integer({ min: 0, max: 40 * second }),
      act: fc.constantFrom('read', 'send', 'send', 'store', 'lose'),
    })
    fc.assert(
      fc.property(fc.array(step, manySteps), (steps) => {
        const life = new Life()
        let stored = { token: token(1), at: begin - 60 * second }
        const read: ({ token: RefreshToken; at: number } | undefined)[] = []
        const gotten: (RefreshToken | undefined)[] = []
        for (const { tab, pause: passed, act } of steps) {
          life.now += passed
          const mine = read[tab]
          // Its access token lives a minute. Until then nobody asks for another.
          if (act === 'read' && life.now - stored.at >= 60 * second) read[tab] = { token: stored.token, at: life.now }
          if (act === 'send' && mine && life.now - mine.at <= 30 * second) {
            const use = life.present(mine.token)
            expect(use).not.toBe('stolen')
            gotten[tab] = got(mine.token, use)
          }
          const newer = gotten[tab]
          if (act === 'store' && newer && newer.number > stored.token.number) stored = { token: newer, at: life.now }
          if (act === 'lose') gotten[tab] = undefined
        }
      }),
      { numRuns: 200 },
    )
  })
})
