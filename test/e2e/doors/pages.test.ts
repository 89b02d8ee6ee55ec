import postgres from 'postgres'
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import { methods } from '#lib/rpc/methods'
import { newLoginClient } from '../../examples/login-applications.ts'
import { admin, newOrganization, ok } from '../../examples/people.ts'
import { openBrowser, type Shown } from '../../examples/sign-in.ts'
import { readPage } from '../../examples/sign-in-kinds.ts'
import { call, recordSecret } from '../clients/encodings.ts'
import { hasMailbox } from '../mailbox.ts'
import { type Opened, pageDoors, standingOf } from './page-doors.ts'
import { type Browser, enter, type Place, setPlace, setStage, type Stage } from './stage.ts'

// Every page, and every form of one, with what is not the person's own, or is over.

const { house, url } = inject('roster')
const sql = house && postgres(house.databaseUrl, { max: 1 })

let place: Place
let stranger: Stage
/** The token of a session without a password. */
let halfDone: string
beforeAll(async () => {
  place = await setPlace()
  stranger = await setStage(place)
  const { userId } = place.friend
  const begun = ok(await call('CreateSession', { userId }, await newLoginClient(await newOrganization())))
  recordSecret(begun.sessionToken)
  halfDone = begun.sessionToken
})
afterAll(() => sql?.end())

/** Pages without a row here. */
const elsewhere = {
  ShowLogo: 'is nobody’s',
  ShowInvitation: 'is good in any browser by its link',
  OpenInvitation: 'likewise',
  ShowTakeBack: 'opens by a link alone: taken-over.test.ts',
  TakeBackEmail: 'likewise',
  ShowPasskeyLink: 'opens by a link alone: link.integration.test.ts of passkeys',
  OpenPasskeyLink: 'likewise',
  AddPasskeyByLink: 'likewise',
  CheckPasskey: 'needs a device: passkey-pages.integration.test.ts',
  RenewPasskeyChallenge: 'likewise',
  SignInByProvider: 'needs an identity provider: provider-sign-in.test.ts',
  ReturnFromProvider: 'likewise',
  OpenIdentityProviderIntent: 'likewise: intents.test.ts',
  ReturnFromProviderLogout: 'is good in any browser by its state: leaving-by-provider.test.ts',
  RemoveMyProvider: 'likewise',
  AddMyPasskey: 'likewise',
  ChangeMyPasskey: 'likewise',
  RemoveMe: 'leaves no person: account-changes.test.ts, and the forms of account.integration.test.ts',
}

test('every page has its row here', () => {
  const pages = [...methods.values()].flatMap(({ page, desc }) =>
    page && !(desc.name in elsewhere) ? [desc.name] : [],
  )
  expect(Object.keys(pageDoors).toSorted()).toEqual(pages.toSorted())
})

describe.each(Object.entries(pageDoors))('%s', (name, door) => {
  const { prepare, isForAnybody, isForPartial, takesFormer, isFile = false, leadsTo } = door
  test.skipIf(['CheckCode', 'FinishRegistration'].includes(name) && !hasMailbox())(
    'opens to its person alone, and while it counts',
    async () => {
      const stage = await setStage(place)
      const { browser, person } = stage
      const opened = await prepare(stage)
      const named = browser.cookie().split('=')[0]
      const foreign: [string, Browser][] = [
        ['of a new browser', openBrowser()],
        ['with the token of a half-done session as its cookie', openBrowser(url, `${named}=${halfDone}`)],
        ['of another person', stranger.browser],
      ]
      const standing = async () => [await standingOf(person), await standingOf(stranger.person)]
      const before = await standing()
      if (!takesFormer) foreign.push(['with the former value of the cookie', openBrowser(url, stage.former)])
      for (const [what, other] of foreign) {
        const shown = await opened.use(other)
        expectShut(what, shown)
        const { kind } = readPage(shown)
        expect([what, shown.body.includes(person.userName), kind === leadsTo]).toEqual([what, false, false])
      }
      if (!isForAnybody && !isForPartial) {
        const { userId } = person
        ok(await call('AddOTPEmail', { userId }, admin()))
        expectShut('without the second factor', await opened.use(browser))
        ok(await call('RemoveOTPEmail', { userId }, admin()))
      }
      for (const over of ['expires_at = roster_users.roster_now()', "answer = 'given'"])
        await whileOver(opened, over, async () => expectShut(over, await opened.use(browser)))
      expect(await standing()).toEqual(before)

      const shown = await opened.use(browser)
      const hasOpened = hasCode(shown) || readPage(shown).kind === leadsTo || shown.body.includes(person.userName)
      if (!hasOpened) expect(await standing()).not.toEqual(before)
      const again = await opened.use(browser)
      expect([again.status < 500, isFile || readPage(again).hasWayOn]).toEqual([true, true])
      if (isForAnybody) return

      await enter(stage)
      const ended = await prepare(stage)
      ok(await call('DeleteUserSessions', { userId: person.userId }, admin()))
      const after = await standing()
      expectShut('with an ended session', await ended.use(browser))
      expect(await standing()).toEqual(after)
    },
  )
})

/** Nobody gets a code, and the person knows what to do. */
function expectShut(what: string, shown: Shown): void {
  const { hasWayOn } = readPage(shown)
  expect([what, hasCode(shown), shown.status < 500, hasWayOn]).toEqual([what, false, true, true])
}

/** The application is on its way to get a code, or its page leads there. */
function hasCode({ location, body }: Shown): boolean {
  return /[?&;]code=/.test(location + body)
}

/** Its request is over for a while. */
async function whileOver({ requestId }: Opened, over: string, look: () => Promise<void>): Promise<void> {
  if (requestId === undefined || !sql) return
  const set = (values: string) =>
    sql`update roster_users.authorization_requests set ${sql.unsafe(values)} where id = ${requestId}`
  await set(over)
  await look()
  await set("answer = null, expires_at = roster_users.roster_now() + interval '1 hour'")
}
