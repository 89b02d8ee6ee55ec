import { Webhook } from 'standardwebhooks'
import { describe, expect, inject, test, vi } from 'vitest'
import { admin, newHuman, newMember, newOrganization, ok } from '../../examples/people.ts'
import { newProject } from '../../examples/projects.ts'
import { deliveries, receiver, subscribe } from '../../examples/webhooks.ts'
import type { TestReceiver } from '../../support/receiver.ts'
import { factsOf } from '../clients/call.ts'
import { call as json, over } from '../clients/encodings.ts'

const { house } = inject('roster')
const why = house ? '' : ' (skipped: a Roster by URL sends to no private address)'
const url = 'https://receiver.example.com/hook'
const soon = { timeout: 30_000, interval: 50 }

function verify(secret: string, { body, headers }: TestReceiver['received'][number]) {
  return new Webhook(secret).verify(body, headers as Record<string, string>)
}

describe.each(over('json'))('a webhook over $encoding', ({ call }) => {
  test('is added, read, changed, paused, resumed and removed; its secret is shown once', async () => {
    const organization = await newOrganization()
    const as = admin(organization)
    const settings = { url, eventTypes: ['roster.user.*'], description: 'CRM' }
    const { webhookId, details, secret } = ok(await call('AddWebhook', settings, as))
    expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/)
    expect(details).toMatchObject({ sequence: '1', resourceOwner: organization })
    const get = async () => ok(await call('GetWebhook', { webhookId }, as)).webhook
    expect(await get()).toEqual({ id: webhookId, webhookId, details, state: 'WEBHOOK_STATE_ACTIVE', ...settings })
    const changed = { url: `${url}/2` }
    expect(ok(await call('UpdateWebhook', { webhookId, ...changed }, as)).details.sequence).toBe('2')
    expect(ok(await call('UpdateWebhook', { webhookId, ...changed }, as)).details.sequence).toBe('2')
    ok(await call('DeactivateWebhook', { webhookId }, as))
    expect(ok(await call('DeactivateWebhook', { webhookId }, as)).details.sequence).toBe('3')
    expect(await get()).toMatchObject({ state: 'WEBHOOK_STATE_INACTIVE', ...changed })
    expect((await get()).eventTypes).toBeUndefined()
    expect(ok(await call('ReactivateWebhook', { webhookId }, as)).details.sequence).toBe('4')
    expect(ok(await call('ListWebhooks', {}, as)).webhooks).toEqual([await get()])
    expect(ok(await call('RemoveWebhook', { webhookId }, as)).details.sequence).toBe('5')
    expect(factsOf(await call('GetWebhook', { webhookId }, as)).reason).toBe('WEBHOOK_NOT_FOUND')
    expect(ok(await call('ListWebhooks', {}, as)).webhooks ?? []).toEqual([])
  })
})

describe('ownership of a webhook', () => {
  test("the instance's webhooks and deliveries are open to callers with the permission there", async () => {
    const home = await newOrganization()
    const owner = await newMember(home, ['ORG_OWNER'])
    const { webhookId } = await subscribe(home, { url, allOrganizations: true, eventTypes: ['idp.changed'] })
    for (const operation of ['AddWebhook', 'ListWebhooks', 'SearchDeliveries'] as const) {
      const request = { ...(operation === 'AddWebhook' && { url }), allOrganizations: true }
      expect(factsOf(await json(operation, request, owner)).code).toBe(7)
    }
    expect(factsOf(await json('GetWebhook', { webhookId }, owner)).reason).toBe('WEBHOOK_NOT_FOUND')
    expect(factsOf(await json('RemoveWebhook', { webhookId }, owner)).reason).toBe('WEBHOOK_NOT_FOUND')
    ok(await json('GetWebhook', { webhookId }, admin()))
    const { webhooks } = ok(await json('ListWebhooks', { allOrganizations: true }, admin()))
    expect(webhooks.map(({ id }: { id: string }) => id)).toContain(webhookId)
    expect(ok(await json('ListWebhooks', {}, admin(home))).webhooks ?? []).toEqual([])
  })
})

describe.skipIf(!house)(`a delivery${why}`, () => {
  test('is signed as Standard Webhooks says, and describes the event as the stream does', async () => {
    const [organization, hook] = [await newOrganization(), await receiver()]
    const { secret } = await subscribe(organization, { url: hook.url, eventTypes: ['roster.user.human.added.v1'] })
    const { userId, email } = await newHuman(organization)
    await vi.waitFor(() => expect(hook.received).toHaveLength(1), soon)
    const [request] = hook.received
    expect(verify(secret, request!)).toEqual({
      type: 'roster.user.human.added.v1',
      timestamp: expect.stringMatching(/^\d{4}-.*Z$/),
      id: request!.headers['webhook-id'],
      organization,
      subject: `user/${userId}`,
      sequence: 1,
      actor: 'admin-machine',
      requestId: expect.any(String),
      data: expect.objectContaining({ email, isVerified: true }),
    })
    expect(request!.headers).toMatchObject({ 'content-type': 'application/json', 'user-agent': 'Roster' })
    const other = new Webhook(`whsec_${Buffer.alloc(32).toString('base64')}`)
    expect(() => other.verify(request!.body, request!.headers as Record<string, string>)).toThrow('No matching')
  })

  test('is signed with the former and the new secret while they overlap, and then only with the new one', async () => {
    const [organization, hook] = [await newOrganization(), await receiver()]
    const { webhookId, secret: first } = await subscribe(organization, { url: hook.url, eventTypes: ['user.human.*'] })
    const rotate = async (request: object) =>
      ok(await json('RotateWebhookSecret', { webhookId, ...request }, admin(organization)))
    const { secret: second, formerSecretExpirationDate } = await rotate({})
    const inADay = Date.parse(formerSecretExpirationDate) - Date.now()
    expect(inADay / 3_600_000).toBeCloseTo(24, 1)
    await newHuman(organization)
    await vi.waitFor(() => expect(hook.received).toHaveLength(1), soon)
    verify(first, hook.received[0]!)
    verify(second, hook.received[0]!)
    const { secret: third } = await rotate({ overlapSeconds: 0 })
    await newHuman(organization)
    await vi.waitFor(() => expect(hook.received).toHaveLength(2), soon)
    verify(third, hook.received[1]!)
    for (const former of [first, second]) expect(() => verify(former, hook.received[1]!)).toThrow('No matching')
  })

  test('exists for the chosen types, of the own organization or, for the instance, of every one', async () => {
    const [home, abroad] = [await newOrganization(), await newOrganization()]
    const [own, every, all] = [await receiver(), await receiver(), await receiver()]
    await subscribe(home, { url: own.url, eventTypes: ['user.*', 'project.added'] })
    await subscribe(home, { url: every.url })
    await subscribe(home, { url: all.url, allOrganizations: true, eventTypes: ['user.human.added', 'project.*'] })
    const [ours, theirs] = [await newHuman(home), await newHuman(abroad)]
    const [project, foreign] = [await newProject(home, ['reader']), await newProject(abroad, ['reader'])]
    const subjects = (hook: TestReceiver) => hook.received.map(({ event }) => `${event.subject} ${event.type}`)
    const [human, foreignHuman] = [ours, theirs].map(({ userId }) => `user/${userId} roster.user.human.added.v1`)
    await vi.waitFor(() => {
      expect(subjects(own)).toEqual(expect.arrayContaining([human, `project/${project} roster.project.added.v1`]))
      expect(subjects(every)).toEqual(expect.arrayContaining([`project/${project} roster.project.role.added.v1`]))
      expect(subjects(all)).toEqual(
        expect.arrayContaining([human, foreignHuman, `project/${foreign} roster.project.role.added.v1`]),
      )
    }, soon)
    for (const { event } of [...own.received, ...every.received]) expect(event.organization).toBe(home)
    for (const { event } of own.received) expect(event.type).toMatch(/^roster\.(user\.|project\.added)/)
  })

  test('waits while the webhook is paused, and comes afterwards', async () => {
    const [organization, hook] = [await newOrganization(), await receiver()]
    const { webhookId } = await subscribe(organization, { url: hook.url, eventTypes: ['user.human.added'] })
    ok(await json('DeactivateWebhook', { webhookId }, admin(organization)))
    const { userId } = await newHuman(organization)
    await vi.waitFor(async () => {
      expect(await deliveries(organization, { webhookId })).toMatchObject([{ state: 'DELIVERY_STATE_QUEUED', userId }])
    }, soon)
    expect(hook.received).toEqual([])
    ok(await json('ReactivateWebhook', { webhookId }, admin(organization)))
    await vi.waitFor(() => expect(hook.received).toHaveLength(1), soon)
  })

  test('pauses while the receiver is gone, then fails, and comes once more on request', async () => {
    const [organization, hook] = [await newOrganization(), await receiver()]
    hook.answer(() => 410)
    const { webhookId } = await subscribe(organization, { url: hook.url, eventTypes: ['user.human.added'] })
    await newHuman(organization)
    const state = async () => ok(await json('GetWebhook', { webhookId }, admin(organization))).webhook.state
    await vi.waitFor(async () => expect(await state()).toBe('WEBHOOK_STATE_INACTIVE'), soon)
    const [failed] = await deliveries(organization, { webhookId })
    expect(failed).toMatchObject({ state: 'DELIVERY_STATE_FAILED', error: 'status 410', attempts: 1 })
    hook.answer(() => 204)
    ok(await json('ReactivateWebhook', { webhookId }, admin(organization)))
    ok(await json('ReplayDelivery', { deliveryId: failed.id }, admin(organization)))
    await vi.waitFor(async () => {
      const { delivery } = ok(await json('GetDelivery', { deliveryId: failed.id }, admin(organization)))
      expect(delivery).toMatchObject({ state: 'DELIVERY_STATE_SENT', eventId: failed.eventId })
    }, soon)
    expect(new Set(hook.received.map(({ body }) => body)).size).toBe(1)
  })
})

describe.skipIf(!house)(`a webhook loses nothing${why}`, () => {
  test.each([
    ['410', 410],
    ['503 and the wish of an hour', { status: 503, headers: { 'retry-after': '3600' } }],
  ])('through a late answer of its former address: %s', async (_, reply) => {
    const organization = await newOrganization()
    const [former, present] = [await receiver(), await receiver()]
    const request = { url: former.url, eventTypes: ['user.human.added'] }
    const { webhookId } = await subscribe(organization, request)
    const [arrived, changed] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    former.answer(async () => {
      arrived.resolve()
      await changed.promise
      return reply
    })
    const { userId } = await newHuman(organization)
    await arrived.promise
    ok(await json('UpdateWebhook', { ...request, webhookId, url: present.url }, admin(organization)))
    changed.resolve()
    await vi.waitFor(() => expect(present.taken().map(({ event }) => event.subject)).toEqual([`user/${userId}`]), soon)
  })
})
