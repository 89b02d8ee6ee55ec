import { readFileSync } from 'node:fs'
import type { JsonObject } from '@bufbuild/protobuf'
import { beforeAll, expect, test } from 'vitest'
import { admin, newHuman, newMember, newOrganization, ok, unique } from '../../examples/people.ts'
import { newAskingApplication } from '../../examples/person-tokens.ts'
import { grantProject, newProject } from '../../examples/projects.ts'
import { call } from '../clients/encodings.ts'

const page = readFileSync(new URL('../../../docs/explain.md', import.meta.url), 'utf8')
const examples = [
  ...page.matchAll(/^## ([^\n]+)\n(?:(?!\n## )[^])*?```request\n([^]*?)```\n\n```answer\n([^]*?)```/gm),
].map(([, title, request, answer]) => ({
  title: title!,
  request: JSON.parse(request!) as JsonObject,
  answer: JSON.parse(answer!) as JsonObject,
}))

/** The ids of the page, and those of the test. */
const ids = new Map<string, string>()
let owner: { token: string }

beforeAll(async () => {
  const [acme, umbrella] = [await newOrganization(), await newOrganization()]
  const ada = await newMember(acme, ['ORG_OWNER'])
  const { userId } = ada
  owner = await newMember(acme, ['ORG_OWNER'])
  const shop = await newProject(umbrella, ['seller'])
  const { clientId } = await newAskingApplication(umbrella, shop)
  const ofShop = await grantProject(umbrella, shop, acme, ['seller'])
  const request = { userId, projectId: shop, roleKeys: ['seller'] }
  const { userGrantId } = ok(await call('AddUserGrant', request, admin(acme)))
  ok(await call('UpdateOrganizationMember', { userId, roles: ['ORG_USER_MANAGER'] }, admin(acme)))
  ok(await call('DeactivateProjectGrant', { projectId: shop, grantId: ofShop }, admin(umbrella)))
  const bob = await newHuman(acme)
  const requestId = unique('request')
  const headers = { 'x-request-id': requestId }
  expect((await call('DeactivateProject', { projectId: shop }, { token: ada.token, headers })).http).toBe(403)
  for (const [name, id] of Object.entries({
    acme,
    umbrella,
    ada: userId,
    shop,
    'grant-of-shop': ofShop,
    'grant-of-ada': userGrantId as string,
    'r-81': requestId,
    'client-of-shop': clientId,
    bob: bob.userId,
    'bob-without-password': bob.userName,
  }))
    ids.set(name, id)
})

test('the page has five worked examples', () => {
  expect(examples).toHaveLength(5)
})

test.each(examples)('the answer of the page is the true one: $title', async ({ request, answer }) => {
  const asked = JSON.parse(withIds(JSON.stringify(request))) as JsonObject
  const operation = 'clientId' in asked ? 'ExplainSignIn' : 'ExplainPermission'
  const explained = async () => (await call(operation, asked, owner)).ok
  await expect
    .poll(async () => plain(await explained()), { timeout: 10_000 })
    .toEqual(plain(JSON.parse(withIds(JSON.stringify(answer)))))
})

test('as of the event that gave it, the first example is allowed', async () => {
  const asked = JSON.parse(withIds(JSON.stringify(examples[0]!.request))) as JsonObject
  const { position } = ok(await call('ExplainPermission', asked, owner)).grounds[0].events[0]
  expect(ok(await call('ExplainPermission', { ...asked, asOfPosition: position }, owner)).allowed).toBe(true)
})

function withIds(text: string): string {
  return [...ids].reduce((known, [name, id]) => known.replaceAll(`"${name}"`, `"${id}"`), text)
}

// Positions and times differ with each run, and so do the ids of memberships.
function plain(answer: unknown): unknown {
  const text = JSON.stringify(answer) ?? ''
  return JSON.parse(
    text
      .replaceAll(/"position":"\d+","id":"grants-\d+"/g, '"id":"an event"')
      .replaceAll(/"time":"[^"]+"/g, '"time":"then"')
      .replaceAll(/("kind":"GROUND_KIND_MEMBERSHIP","id":)"[^"]+"/g, '$1"a membership"') || 'null',
  )
}
