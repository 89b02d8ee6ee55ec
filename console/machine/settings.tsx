import type { UsersAccessTokenType, UsersUser } from '#gen/console/api'
import rules from '../../gen/console/rules/roster.users.v1.UpdateMachineRequest.json'
import { call, write } from '../api/call.ts'
import { readAgain, useMay } from '../api/queries.ts'
import { useOrganization } from '../address/place.ts'
import { Choice, Field } from '../form/field.tsx'
import { FormView } from '../form/form.tsx'
import type { Rules } from '../form/rules.ts'
import { useForm } from '../form/use-form.ts'
import { words } from '../machines/words.ts'
import { say } from '../pieces/notices.tsx'

const service = 'roster.users.v1.UserService'
const types = { ACCESS_TOKEN_TYPE_BEARER: words.bearer, ACCESS_TOKEN_TYPE_JWT: words.jwt }

/** The name of a machine, what it is for, and which tokens it gets. */
export function Settings({ user }: { user: UsersUser }) {
  const organization = useOrganization()
  const mayWrite = useMay('user.write')
  const { userId = '' } = user
  const form = useForm({
    opened: valuesOf(user),
    sequence: user.details?.sequence ?? '',
    rules: rules as Rules,
    async send({ accessTokenType, ...texts }, { sequence, key }) {
      const type = accessTokenType && { accessTokenType: accessTokenType as UsersAccessTokenType }
      const request = { userId, ...texts, ...type }
      const { details } = await write(`${service}/UpdateMachine`, request, { organization, sequence, key })
      say(words.saved)
      void readAgain()
      return details?.sequence
    },
    async theirs() {
      const { user: now = {} } = await call(`${service}/GetUser`, { userId }, { organization })
      const { sequence = '', changeDate = '' } = now.details ?? {}
      return { values: valuesOf(now), sequence, by: '', at: changeDate }
    },
  })
  const labels = { name: words.name, description: words.description, accessTokenType: words.tokenType }
  return (
    <div class="card form">
      <fieldset disabled={mayWrite === false}>
        <FormView form={form} labels={labels}>
          <Field form={form} name="name" label={words.name} />
          <Field form={form} name="description" optional label={words.description} />
          <Choice form={form} name="accessTokenType" label={words.tokenType} options={types} />
        </FormView>
      </fieldset>
    </div>
  )
}

function valuesOf({ machine }: UsersUser) {
  const { name = '', description = '', accessTokenType = 'ACCESS_TOKEN_TYPE_BEARER' } = machine ?? {}
  return { name, description, accessTokenType: accessTokenType as string }
}
