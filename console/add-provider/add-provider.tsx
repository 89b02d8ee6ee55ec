import { useLocation } from 'wouter-preact'
import { useOrganization, useTitle } from '../address/place.ts'
import { write } from '../api/call.ts'
import { ApiError } from '../api/errors.ts'
import { readAgain } from '../api/queries.ts'
import { Check } from '../form/check.tsx'
import { Choice, Field } from '../form/field.tsx'
import { FormView } from '../form/form.tsx'
import { useForm } from '../form/use-form.ts'
import { say } from '../pieces/notices.tsx'
import { type Kind, kindNames } from '../providers/kinds.ts'
import { type Place, usePaths, usePlace } from '../providers/place.ts'
import { words as common } from '../providers/words.ts'
import { labels, PresetFields } from './preset-fields.tsx'
import { isAsked, known, nothing, presets, rules, type Wanted } from './presets.ts'
import { words } from './words.ts'

/** Adds a provider. What it has to be told, and what it gives for that, comes on the provider's own page. */
export default function AddProvider() {
  useTitle(words.title)
  const place = usePlace()
  const path = usePaths()
  const organization = useOrganization()
  const [, navigate] = useLocation()
  const form = useForm<Wanted>({
    opened: nothing,
    rules,
    async send(values, { key }) {
      const id = await add(place, values as Wanted, { organization, key })
      say(common.added(values.name ?? ''))
      void readAgain()
      navigate(path(`/${encodeURIComponent(id)}`))
      return undefined
    },
    skip: (name, values) => !isAsked(name, values),
  })
  const kind = form.values.kind as Kind
  const choose = (next: Kind) => {
    // What somebody typed stays.
    if (form.values.name === kindNames[kind]) form.set('name', kindNames[next])
    const before = known[kind]?.issuer ?? ''
    if (form.values.issuer === before) form.set('issuer', known[next]?.issuer ?? '')
    form.set('kind', next)
  }
  const options = Object.fromEntries(Object.entries(presets).map(([id, { label }]) => [id, label]))
  return (
    <>
      <div class="head">
        <h1>{words.title}</h1>
      </div>
      <div class="card form">
        <FormView form={form} labels={labels} action={words.next} onCancel={() => navigate(path(''))}>
          <Choice
            form={{ ...form, set: (_, value) => choose(value as Kind) }}
            name="kind"
            label={words.which}
            options={options}
          />
          <Field form={form} name="name" label={words.name} hint={words.nameHint} />
          <PresetFields form={form} />
          <Check
            form={form}
            name="autoRegister"
            label={words.register}
            hint={place.isOfInstance ? `${words.registerInstance} ${words.registerHint}` : words.registerHint}
          />
          {kind !== 'apple' && kind !== 'jwt' && <p class="soft">{words.comes}</p>}
        </FormView>
      </div>
    </>
  )
}

async function add(place: Place, wanted: Wanted, options: { organization: string; key: string }): Promise<string> {
  const preset = presets[wanted.kind as Kind]!
  const { protocol, request } = preset.request(wanted)
  const all = { name: wanted.name, autoRegister: wanted.autoRegister === 'true', ...request }
  const method = { oidc: place.addOidc, oauth: place.addOauth, jwt: place.addJwt }[protocol]
  try {
    const { idpId = '' } = await write(method, all as never, options)
    return idpId
  } catch (cause) {
    if (cause instanceof ApiError)
      cause.violations = cause.violations.map(({ field, description }) => ({
        field: preset.fieldOf?.[field] ?? field,
        description,
      }))
    throw cause
  }
}
