import { describe, expect, inject, test, vi } from 'vitest'
import { admin, newHuman, newMember, newOrganization, ok, uniqueEmail } from '../../examples/people.ts'
import { deliveries, receiver, subscribe } from '../../examples/webhooks.ts'
import { factsOf } from '../clients/call.ts'
import { call as json } from '../clients/encodings.ts'
import { mailTo } from '../mailbox.ts'

const { house } = inject('roster')
const why = house ? '' : ' (skipped: a Roster by URL sends to no private address)'
const soon = { timeout: 30_000, interval: 50 }

describe.skipIf(!house)(`the ledger${why}`, () => {
  test('lists the requested mails and events, newest first, page by page', async () => {
    const [organization, hook] = [await newOrganization(), await receiver()]
    const { webhookId } = await subscribe(organization, { url: hook.url, eventTypes: ['user.human.added'] })
    const humans = [await newHuman(organization, { verification: {} }), await newHuman(organization)]
    await mailTo(humans[0]!.email)
    await vi.waitFor(async () => {
      const sent = await deliveries(organization, { state: 'DELIVERY_STATE_SENT' })
      expect(sent).toHaveLength(3)
    }, soon)
    const kinds = async (request: object) => (await deliveries(organization, request)).map(({ kind }) => kind)
    expect(await kinds({ kind: 'DELIVERY_KIND_MAIL' })).toEqual(['DELIVERY_KIND_MAIL'])
    expect(await kinds({ webhookId })).toEqual(['DELIVERY_KIND_WEBHOOK', 'DELIVERY_KIND_WEBHOOK'])
    expect(await kinds({ userId: humans[0]!.userId })).toHaveLength(2)
    const all = await deliveries(organization, {})
    expect(await deliveries(organization, { eventId: all[0].eventId })).toEqual(
      all.filter(({ eventId }) => eventId === all[0].eventId),
    )
    const pages: any[] = []
    for (let cursor: string | undefined = ''; cursor !== undefined;) {
      const page = ok(await json('SearchDeliveries', { limit: 2, cursor }, admin(organization)))
      pages.push(...page.deliveries)
      cursor = page.nextCursor
    }
    expect(pages).toEqual(all)
    expect(JSON.stringify(all)).not.toContain('@')
  })

  test('shows that a mail was sent, or that another one replaced it', async () => {
    const organization = await newOrganization()
    const { userId, email } = await newHuman(organization, { verification: { sendCode: {} } })
    await mailTo(email)
    const states = async () =>
      (await deliveries(organization, { userId, kind: 'DELIVERY_KIND_MAIL' })).map(({ state }) => state)
    await vi.waitFor(async () => expect(await states()).toEqual(['DELIVERY_STATE_SENT']), soon)
    const again = uniqueEmail()
    ok(await json('SetEmail', { userId, email: again }, admin()))
    await mailTo(again)
    await vi.waitFor(async () => {
      expect(await states()).toEqual(['DELIVERY_STATE_SENT', 'DELIVERY_STATE_SENT'])
    }, soon)
  })

  test('shows an organization only its own deliveries', async () => {
    const [home, abroad] = [await newOrganization(), await newOrganization()]
    const stranger = await newMember(abroad, ['ORG_OWNER'])
    const { email } = await newHuman(home, { verification: {} })
    await mailTo(email)
    const [delivery] = await vi.waitFor(async () => {
      const found = await deliveries(home, {})
      expect(found).toHaveLength(1)
      return found
    }, soon)
    const { token } = stranger
    expect(ok(await json('SearchDeliveries', {}, { token })).deliveries ?? []).toEqual([])
    for (const deliveryId of [delivery.id, 'unknown'])
      for (const operation of ['GetDelivery', 'ReplayDelivery'] as const)
        expect(factsOf(await json(operation, { deliveryId }, { token })).reason).toBe('DELIVERY_NOT_FOUND')
    expect(factsOf(await json('SearchDeliveries', {}, { token, organization: home })).code).toBe(7)
    expect(factsOf(await json('ReplayDelivery', { deliveryId: delivery.deliveryId }, admin(home))).reason).toBe(
      'DELIVERY_NOT_REPLAYABLE',
    )
  })
})
