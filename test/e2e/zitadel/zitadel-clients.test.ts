import { beforeAll, describe, inject, test } from 'vitest'
import { admin, newMember, newOrganization, ok, unique } from '../../examples/people.ts'
import { newIdp } from '../../examples/projects.ts'
import { addition, examples } from '../../examples/idps.ts'
import { expectPart } from '../../support/expect-part.ts'
import { call } from '../clients/encodings.ts'
import { fiveCalls, projectCalls } from './calls.ts'
import { lifeCalls } from './life-calls.ts'
import { policyCalls } from './policy-calls.ts'
import { providerCalls } from './provider-calls.ts'
import { signInCalls } from './sign-in-calls.ts'
import type { Call, World } from './step.ts'
import { type ClientKind, kinds } from './clients.ts'
import { type Result, tableOf } from './table.ts'

const { url, adminToken } = inject('roster')
const calls = [...projectCalls, ...fiveCalls, ...lifeCalls, ...signInCalls, ...policyCalls, ...providerCalls]
const results = new Map<string, Result>()
const nameOf = ({ client, protocol }: ClientKind, { service, method }: Call) =>
  [client, protocol, service, method].join()

describe.each(kinds)('$client over $protocol', (kind) => {
  let world: World

  beforeAll(async () => {
    const organization = await newOrganization()
    const me = await newMember(organization, [])
    const { idpId: organizationIdpId } = ok(
      await call('AddOrganizationOIDCIDP', addition(examples.oidc, unique('idp')), admin(organization)),
    )
    world = {
      kind,
      admin: kind.connect(url, adminToken, organization),
      human: kind.connect(url, me.token, ''),
      humanId: me.userId,
      organization,
      guest: await newOrganization(),
      idpId: (await newIdp()).idpId,
      organizationIdpId,
      ids: {},
    }
  })

  test.each(calls)('$service $method', async (one) => {
    results.set(nameOf(kind, one), await resultOf(one, world))
  })
})

test('docs/migrating-from-zitadel.md has the table of these results', () => {
  const table = tableOf(
    kinds,
    [...fiveCalls, ...projectCalls, ...lifeCalls, ...signInCalls, ...policyCalls, ...providerCalls],
    (kind, one) => results.get(nameOf(kind, one))!,
  )
  expectPart('migrating-from-zitadel.md', 'clients', table)
})

// Any other failure fails the test of the call.
async function resultOf({ service, method, run }: Call, world: World): Promise<Result> {
  if (!world.admin[service]?.[method]) return 'not in the client'
  try {
    await run(world)
    return 'works'
  } catch (error) {
    const { message } = error as Error
    if (message.includes(`Roster has no equal of`) && message.toLowerCase().includes(method.toLowerCase()))
      return 'no equal'
    throw error
  }
}
