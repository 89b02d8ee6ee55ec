import { decodeJwt } from 'jose'
import * as fc from 'fast-check'
import { expect } from 'vitest'
import { redeem } from '../../examples/sign-in.ts'
import { command, count, type SignInCommand } from './command.ts'
import type { Place } from './place.ts'
import { type Authorization, lifetimes, type Model, opens, stands } from './rules.ts'

/** By its age. */
const which = fc.constantFrom(0, 0, 0, 1, 2, 3)
const at = (model: Model, which: number) => model.authorizations[which]
/** The time that passes by itself, too. */
const nowOf = (model: Model) => Date.now() / 1000 + model.time

/** Redeems a code; with the wrong verifier, or once more. */
export const redeemCode = command(
  'redeem',
  fc.record({ which, wrong: fc.constantFrom(false, false, false, false, true) }),
  {
    check: (model, { which }) => at(model, which) !== undefined,
    async run(model, place, { which, wrong }) {
      const authorization = at(model, which)!
      const age = nowOf(model) - authorization.at
      // On a slow machine nobody can tell.
      if (age > lifetimes.code - 20 && age < lifetimes.code + 1) return
      const { application, redeemed, openid, offline, user } = authorization
      const given = place.given.get(authorization)!
      const more = wrong ? { code_verifier: 'x'.repeat(43) } : {}
      const { status, body } = await redeem(place.applications[application], given.code, more, place.url)
      const works = !wrong && redeemed === undefined && age < lifetimes.code && opens(model, authorization)
      expect({ status: status === 200, body }).toEqual({ status: works, body: expect.anything() })
      if (!works) {
        // It comes with everything right, so it is over, unless a factor alone is missing.
        const lacks = redeemed === undefined && age < lifetimes.code && stands(model, authorization)
        if (!wrong && !lacks && model.applications[application].isOpen) authorization.ended = true
        return
      }
      const sub = body.id_token === undefined ? undefined : decodeJwt(body.id_token).sub
      expect(sub).toBe(openid ? place.people[user].userId : undefined)
      expect(body.refresh_token !== undefined).toBe(offline)
      authorization.redeemed = authorization.refreshed = nowOf(model)
      Object.assign(given, { access: body.access_token, refresh: body.refresh_token, idToken: body.id_token })
    },
  },
)

const refresh = command('refresh', fc.record({ which }), {
  check: (model, { which }) => at(model, which)?.redeemed !== undefined && at(model, which)!.offline,
  async run(model, place, { which }) {
    const authorization = at(model, which)!
    const given = place.given.get(authorization)!
    const more = { grant_type: 'refresh_token', refresh_token: given.refresh!, redirect_uri: '', code_verifier: '' }
    const { status, body } = await redeem(place.applications[authorization.application], '', more, place.url)
    const isLate = nowOf(model) - authorization.refreshed! >= lifetimes.refresh
    const works = opens(model, authorization) && !isLate
    expect({ status: status === 200, body }).toEqual({ status: works, body: expect.anything() })
    if (!works) {
      if ((isLate || !stands(model, authorization)) && model.applications[authorization.application].isOpen)
        authorization.ended = true
      return
    }
    authorization.refreshed = nowOf(model)
    Object.assign(given, { access: body.access_token, refresh: body.refresh_token })
  },
})

/** What was ended opens nothing a second later. */
export const use = command('use', fc.record({ which }), {
  check: (model, { which }) => at(model, which)?.redeemed !== undefined,
  run: (model, place, { which }) => expectUse(model, place, at(model, which)!),
})

export async function expectUse(model: Model, place: Place, authorization: Authorization): Promise<void> {
  // Whether a token is too old, gateways that remember it learn by time that passes.
  if (nowOf(model) - authorization.refreshed! > 14 * 60) return
  const { access } = place.given.get(authorization)!
  const headers = { authorization: `Bearer ${access}` }
  const ask = async () => {
    const answer = await fetch(`${place.url}/oidc/v1/userinfo`, { headers })
    return answer.status === 200 ? ((await answer.json()) as { sub: string }).sub : 'refused'
  }
  count(opens(model, authorization) ? 'token that counts' : 'token that is over')
  const expected =
    authorization.openid && opens(model, authorization) ? place.people[authorization.user].userId : 'refused'
  await expect.poll(ask, { timeout: 3000 }).toBe(expected)
}

export const tokens: fc.Arbitrary<SignInCommand>[] = [redeemCode, redeemCode, redeemCode, refresh, use, use]
