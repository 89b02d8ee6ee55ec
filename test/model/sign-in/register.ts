import * as fc from 'fast-check'
import { decodeJwt } from 'jose'
import { expect } from 'vitest'
import type { Operation } from '../../examples/contract.ts'
import { unique, uniqueEmail } from '../../examples/people.ts'
import { authorizePath, openBrowser, redeem } from '../../examples/sign-in.ts'
import { readPage } from '../../examples/sign-in-kinds.ts'
import { mailTo } from '../../e2e/mailbox.ts'
import { command, type SignInCommand } from './command.ts'

/** Of a run: an address may register twenty in a short time. */
let left = 10

/** Somebody who is not of the model registers in a browser of their own, and is shut out again. */
const registers = command(
  'register',
  fc.record({ ends: fc.constantFrom<Operation>('DeleteUserSessions', 'LockUser', 'DeactivateUser', 'DeleteUser') }),
  {
    check: ({ applications }) => applications.own.isOpen,
    async run(_model, { url, mailbox, act, applications }, { ends }) {
      if (mailbox === undefined || left-- <= 0) return
      const { visit, submit } = openBrowser(url)
      const email = uniqueEmail()
      const form = await visit(authorizePath(applications.own, { prompt: 'create' }))
      const typed = { given_name: 'Grace', family_name: 'Hopper', email, action: 'register' }
      const asking = await submit(form, typed)
      expect(readPage(asking).kind).toBe('enter code')
      const { code } = await mailTo(email, 1, mailbox)
      const wrong = await submit(asking, { code: 'WRONG2', password: unique('Password'), action: 'finish' })
      expect(readPage(wrong).kind).toBe('enter code')
      const { answer } = readPage(await submit(wrong, { code, password: unique('Password'), action: 'finish' }))
      const { body } = await redeem(applications.own, answer!.searchParams.get('code')!, {}, url)
      const userId = decodeJwt(body.id_token).sub!
      const headers = { authorization: `Bearer ${body.access_token}` }
      const status = async () => (await fetch(`${url}/oidc/v1/userinfo`, { headers })).status
      expect(await status()).toBe(200)
      await act(ends, { userId })
      await expect.poll(status, { timeout: 3000 }).toBe(401)
    },
  },
)

export const register: fc.Arbitrary<SignInCommand>[] = [registers]
