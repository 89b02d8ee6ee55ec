import { expect } from 'vitest'
import { authorizePath, callbackOf, openBrowser, redeem, redirectUri } from '../../examples/sign-in.ts'
import type { Place } from './place.ts'

/** Holds an API, for whose answer people need the role `reader` in the place's project, against tokens of all kinds. */
export async function expectGuarded(place: Place, api: string, form: 'JWT' | 'BEARER'): Promise<void> {
  const { person, other, projectId } = place
  const { id: elsewhere } = await place.act('AddProject', { name: 'Elsewhere' })
  const [mine, foreign] = [await newTokens(place, person, projectId), await newTokens(place, person, elsewhere)]
  const answer = await get(mine.access_token)
  expect({ status: answer.status, body: await answer.json() }).toMatchObject({
    status: 200,
    body: { reader: person.userId },
  })
  expect((await get((await newTokens(place, other, projectId)).access_token)).status).toBe(403)
  const altered = mine.access_token.replace(/.{40}$/, 'A'.repeat(40))
  for (const token of [foreign.access_token, mine.id_token, altered, 'none'])
    expect((await get(token)).status, token).toBe(401)
  expect((await fetch(api)).status).toBe(401)

  function get(token: string) {
    return fetch(api, { headers: { authorization: `Bearer ${token}` } })
  }

  /** Of an application of a project, from a person who signs in. */
  async function newTokens({ issuer, act }: Place, { userName, password }: typeof other, project: string) {
    const settings = {
      projectId: project,
      name: 'Caller',
      redirectUris: [redirectUri],
      accessTokenType: `OIDC_TOKEN_TYPE_${form}`,
      accessTokenRoleAssertion: true,
      idTokenRoleAssertion: true,
      firstParty: true,
    }
    const application = { ...(await act('AddOIDCApplication', settings)), ...settings }
    const callback = await callbackOf(
      { userName, password } as Parameters<typeof callbackOf>[0],
      authorizePath(application),
      openBrowser(issuer),
    )
    const { status, body } = await redeem(application, callback.searchParams.get('code')!, {}, issuer)
    expect(status, JSON.stringify(body)).toBe(200)
    return body as { access_token: string; id_token: string }
  }
}
