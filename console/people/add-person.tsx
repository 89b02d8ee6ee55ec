import { useLocation } from 'wouter-preact'
import rules from '../../gen/console/rules/roster.users.v1.AddHumanUserRequest.json'
import { readAgain } from '../api/queries.ts'
import { write } from '../api/call.ts'
import { Field } from '../form/field.tsx'
import { FormView } from '../form/form.tsx'
import type { Rules } from '../form/rules.ts'
import { useForm } from '../form/use-form.ts'
import { say } from '../pieces/notices.tsx'
import { texts } from '../texts/texts.ts'
import { useHere, useOrganization, useTitle } from '../address/place.ts'
import { words } from './words.ts'

const t = texts(
  {
    added: (name: string) => `${name} was added.`,
    emailHint: 'A mail with a code goes there, which verifies the address.',
    userNameHint: 'What they sign in with, such as their email address.',
  },
  {
    added: (name) => `${name} wurde hinzugefügt.`,
    emailHint: 'Dorthin geht eine Mail mit einem Code, der die Adresse bestätigt.',
    userNameHint: 'Womit sie sich anmelden, etwa ihre E-Mail-Adresse.',
  },
)

/** Adds one person. */
export default function AddPerson() {
  useTitle(words.add)
  const organization = useOrganization()
  const here = useHere()
  const [, navigate] = useLocation()
  const form = useForm({
    opened: { 'profile.firstName': '', 'profile.lastName': '', 'email.email': '', userName: '' },
    rules: rules as Rules,
    async send(values, { key }) {
      const { 'profile.firstName': firstName = '', 'profile.lastName': lastName = '' } = values
      const { 'email.email': email = '', userName = '' } = values
      const request = { userName, profile: { firstName, lastName }, email: { email } }
      const { userId = '' } = await write('roster.users.v1.UserService/AddHumanUser', request, { organization, key })
      say(t.added(`${firstName} ${lastName}`))
      void readAgain()
      navigate(here(`/people/${encodeURIComponent(userId)}`))
      return undefined
    },
  })
  const labels = {
    'profile.firstName': words.firstName,
    'profile.lastName': words.lastName,
    'email.email': words.email,
    userName: words.userName,
  }
  return (
    <>
      <div class="head">
        <h1>{words.add}</h1>
      </div>
      <div class="card form">
        <FormView form={form} labels={labels} action={words.add} onCancel={() => navigate(here('/people'))}>
          <div class="both">
            <Field form={form} name="profile.firstName" label={words.firstName} />
            <Field form={form} name="profile.lastName" label={words.lastName} />
          </div>
          <Field form={form} name="email.email" type="email" label={words.email} hint={t.emailHint} />
          <Field form={form} name="userName" label={words.userName} hint={t.userNameHint} />
        </FormView>
      </div>
    </>
  )
}
