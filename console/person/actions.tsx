import { useState } from 'preact/hooks'
import { Link } from 'wouter-preact'
import type { UsersUser } from '#gen/console/api'
import { write } from '../api/call.ts'
import type { Method, Request } from '../api/sent.ts'
import { readAgain, useMay } from '../api/queries.ts'
import { Confirm } from '../pieces/confirm.tsx'
import { Menu } from '../pieces/menu.tsx'
import { say, sayProblem } from '../pieces/notices.tsx'
import { nameOf } from '../people/about-person.tsx'
import { useHere, useOrganization } from '../address/place.ts'
import { RemovePerson } from './remove-person.tsx'
import { SetPassword } from './set-password.tsx'
import { common } from '../texts/common.ts'
import { words } from './words.ts'

type Act = { [M in Method]: Request<M> extends { userId?: string } ? M : never }[Method]

/** What one can do with a person, beside their fields. */
export function Actions({ user }: { user: UsersUser }) {
  const [asked, setAsked] = useState<'lock' | 'password' | 'remove'>()
  const organization = useOrganization()
  const here = useHere()
  const mayWrite = useMay('user.write')
  const mayRemove = useMay('user.delete')
  const { userId = '', state } = user
  const name = nameOf(user)
  const act = async (method: Act, done: string) => {
    await write(method, { userId }, { organization })
    await readAgain()
    say(done)
  }
  const now = (method: Act, done: string) => void act(method, done).catch(sayProblem)
  const service = 'roster.users.v1.UserService'
  const why = (
    <Link class="button" href={here(`/explain?person=${encodeURIComponent(userId)}`)}>
      {words.why}
    </Link>
  )
  if (!mayWrite && !mayRemove) return why
  return (
    <>
      {why}
      {mayWrite && state === 'USER_STATE_LOCKED' && (
        <button onClick={() => now(`${service}/UnlockUser`, words.unlocked(name))}>{words.unlock}</button>
      )}
      {mayWrite && state === 'USER_STATE_ACTIVE' && (
        <button class="danger" onClick={() => setAsked('lock')}>
          {words.lock}
        </button>
      )}
      <Menu label={common.more}>
        {mayWrite && user.human && (
          <button onClick={() => now(`${service}/CreateInviteCode`, words.invited(name))}>{words.invite}</button>
        )}
        {mayWrite && user.human && (
          <button onClick={() => now('roster.users.v1.PasswordService/PasswordReset', words.resetSent(name))}>
            {words.resetPassword}
          </button>
        )}
        {mayWrite && user.human && <button onClick={() => setAsked('password')}>{words.setPassword} …</button>}
        {mayWrite && state === 'USER_STATE_INACTIVE' && (
          <button onClick={() => now(`${service}/ReactivateUser`, words.reactivated(name))}>{words.reactivate}</button>
        )}
        {mayWrite && state === 'USER_STATE_ACTIVE' && (
          <button onClick={() => now(`${service}/DeactivateUser`, words.deactivated(name))}>{words.deactivate}</button>
        )}
        {mayRemove && (
          <button class="danger" onClick={() => setAsked('remove')}>
            {words.remove}
          </button>
        )}
      </Menu>
      {asked === 'lock' && (
        <Confirm
          title={words.lockTitle(name)}
          action={words.lock}
          act={() => act(`${service}/LockUser`, words.locked(name))}
          onClose={() => setAsked(undefined)}
        >
          {words.lockText}
        </Confirm>
      )}
      {asked === 'password' && <SetPassword user={user} onClose={() => setAsked(undefined)} />}
      {asked === 'remove' && <RemovePerson user={user} onClose={() => setAsked(undefined)} />}
    </>
  )
}
