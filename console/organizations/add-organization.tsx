import { useLocation } from 'wouter-preact'
import rules from '../../gen/console/rules/roster.grants.v1.AddOrganizationRequest.json'
import { write } from '../api/call.ts'
import { readAgain } from '../api/queries.ts'
import { useOrganization, useTitle } from '../address/place.ts'
import { Field } from '../form/field.tsx'
import { FormView } from '../form/form.tsx'
import type { Rules } from '../form/rules.ts'
import { useForm } from '../form/use-form.ts'
import { words } from '../organization/words.ts'
import { say } from '../pieces/notices.tsx'

/** Makes an organization, and goes there. */
export default function AddOrganization() {
  useTitle(words.add)
  const organization = useOrganization()
  const [, navigate] = useLocation()
  const form = useForm({
    opened: { name: '' },
    rules: rules as Rules,
    async send({ name = '' }, { key }) {
      const method = 'roster.grants.v1.OrganizationService/AddOrganization'
      const { organizationId = '' } = await write(method, { name }, { organization, key })
      say(words.added(name))
      void readAgain()
      navigate(`/o/${encodeURIComponent(organizationId)}`)
      return undefined
    },
  })
  const cancel = () => navigate('/instance/organizations')
  return (
    <>
      <div class="head">
        <h1>{words.add}</h1>
      </div>
      <div class="card form">
        <FormView form={form} labels={{ name: words.name }} action={words.add} onCancel={cancel}>
          <Field form={form} name="name" label={words.name} hint={words.addHint} />
        </FormView>
      </div>
    </>
  )
}
