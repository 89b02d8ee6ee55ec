import { useState } from 'preact/hooks'
import type { UsersUser } from '#gen/console/api'
import emailRules from '../../gen/console/rules/roster.users.v1.SetEmailRequest.json'
import nameRules from '../../gen/console/rules/roster.users.v1.UpdateUserNameRequest.json'
import { write } from '../api/call.ts'
import { readAgain } from '../api/queries.ts'
import { Field } from '../form/field.tsx'
import { FormView } from '../form/form.tsx'
import type { Rules } from '../form/rules.ts'
import { useForm } from '../form/use-form.ts'
import { Dialog } from '../pieces/dialog.tsx'
import { say } from '../pieces/notices.tsx'
import { words as people } from '../people/words.ts'
import { common } from '../texts/common.ts'
import { useOrganization } from '../address/place.ts'
import { words } from './words.ts'

/** What the person is known by. */
export function Identity({ user, mayWrite }: { user: UsersUser; mayWrite: boolean }) {
  const [open, setOpen] = useState<'email' | 'userName'>()
  const { email = '', isVerified = false } = user.human?.email ?? {}
  const change = (what: 'email' | 'userName', label: string) =>
    mayWrite && (
      <button aria-label={label} onClick={() => setOpen(what)}>
        {common.change}
      </button>
    )
  return (
    <div class="card">
      <dl class="facts">
        <dt>{people.email}</dt>
        <dd>
          {email}{' '}
          <span class={`tag ${isVerified ? 'good' : 'warn'}`}>{isVerified ? words.verified : words.unverified}</span>
        </dd>
        <dd>{change('email', words.changeEmail)}</dd>
        <dt>{people.userName}</dt>
        <dd>{user.userName}</dd>
        <dd>{change('userName', words.changeUserName)}</dd>
        <dt>{words.id}</dt>
        <dd>
          <code>{user.userId}</code>
        </dd>
        <dd />
      </dl>
      {open === 'email' && <EmailForm user={user} onClose={() => setOpen(undefined)} />}
      {open === 'userName' && <UserNameForm user={user} onClose={() => setOpen(undefined)} />}
    </div>
  )
}

function EmailForm({ user, onClose }: { user: UsersUser; onClose: () => void }) {
  const organization = useOrganization()
  const { userId = '' } = user
  const form = useForm({
    opened: { email: user.human?.email?.email ?? '' },
    sequence: user.details?.sequence ?? '',
    rules: emailRules as Rules,
    async send({ email = '' }, { sequence, key }) {
      const method = 'roster.users.v1.UserService/SetEmail'
      const { details } = await write(method, { userId, email }, { organization, sequence, key })
      return done(words.emailChanged, details?.sequence, onClose)
    },
  })
  return (
    <Dialog title={words.changeEmail} onClose={onClose}>
      <FormView form={form} labels={{ email: people.email }} onCancel={onClose}>
        <Field form={form} name="email" type="email" label={people.email} />
      </FormView>
    </Dialog>
  )
}

function UserNameForm({ user, onClose }: { user: UsersUser; onClose: () => void }) {
  const organization = useOrganization()
  const { userId = '' } = user
  const form = useForm({
    opened: { userName: user.userName ?? '' },
    sequence: user.details?.sequence ?? '',
    rules: nameRules as Rules,
    async send({ userName = '' }, { sequence, key }) {
      const method = 'roster.users.v1.UserService/UpdateUserName'
      const { details } = await write(method, { userId, userName }, { organization, sequence, key })
      return done(words.userNameChanged, details?.sequence, onClose)
    },
  })
  return (
    <Dialog title={words.changeUserName} onClose={onClose}>
      <FormView form={form} labels={{ userName: people.userName }} onCancel={onClose}>
        <Field form={form} name="userName" label={people.userName} />
      </FormView>
    </Dialog>
  )
}

function done(text: string, sequence: string | undefined, onClose: () => void) {
  say(text)
  void readAgain()
  onClose()
  return sequence
}
