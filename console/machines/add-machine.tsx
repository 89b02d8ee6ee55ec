import { useLocation } from 'wouter-preact'
import rules from '../../gen/console/rules/roster.users.v1.AddMachineUserRequest.json'
import { write } from '../api/call.ts'
import { readAgain } from '../api/queries.ts'
import { useHere, useOrganization, useTitle } from '../address/place.ts'
import { Field } from '../form/field.tsx'
import { FormView } from '../form/form.tsx'
import type { Rules } from '../form/rules.ts'
import { useForm } from '../form/use-form.ts'
import { say } from '../pieces/notices.tsx'
import { words } from './words.ts'

/** Adds a machine, and leads to where it gets its credentials. */
export default function AddMachine() {
  useTitle(words.add)
  const organization = useOrganization()
  const here = useHere()
  const [, navigate] = useLocation()
  const form = useForm({
    opened: { name: '', userName: '', description: '' },
    rules: rules as Rules,
    async send({ name = '', userName = '', description = '' }, { key }) {
      const request = { name, userName, description }
      const { userId = '' } = await write('roster.users.v1.UserService/AddMachineUser', request, { organization, key })
      say(words.added(name))
      void readAgain()
      navigate(here(`/machines/${encodeURIComponent(userId)}`))
      return undefined
    },
  })
  const labels = { name: words.name, userName: words.userName, description: words.description }
  return (
    <>
      <div class="head">
        <h1>{words.add}</h1>
      </div>
      <div class="card form">
        <FormView form={form} labels={labels} action={words.add} onCancel={() => navigate(here('/machines'))}>
          <Field form={form} name="name" label={words.name} />
          <Field form={form} name="userName" label={words.userName} hint={words.userNameHint} />
          <Field form={form} name="description" optional label={words.description} />
        </FormView>
      </div>
    </>
  )
}
