import type { UsersGender, UsersUser } from '#gen/console/api'
import rules from '../../gen/console/rules/roster.users.v1.UpdateHumanProfileRequest.json'
import { call, write } from '../api/call.ts'
import { readAgain, useMay } from '../api/queries.ts'
import { Choice, Field } from '../form/field.tsx'
import { FormView } from '../form/form.tsx'
import type { Rules } from '../form/rules.ts'
import { type Theirs, useForm } from '../form/use-form.ts'
import { say } from '../pieces/notices.tsx'
import { Time } from '../pieces/time.tsx'
import { words as people } from '../people/words.ts'
import { useOrganization } from '../address/place.ts'
import { Identity } from './identity.tsx'
import { words } from './words.ts'

const labels = {
  firstName: people.firstName,
  lastName: people.lastName,
  displayName: people.displayName,
  nickName: people.nickName,
  preferredLanguage: people.language,
  gender: words.gender,
}
type Profile = Record<keyof typeof labels, string>

const genders: Record<UsersGender, string> = {
  GENDER_UNSPECIFIED: words.unspecified,
  GENDER_FEMALE: words.female,
  GENDER_MALE: words.male,
  GENDER_DIVERSE: words.diverse,
}

/** The names of a person, and the address and user name, which have calls of their own. */
export function Profile({ user }: { user: UsersUser }) {
  const mayWrite = useMay('user.write')
  return (
    <div class="stack">
      <div class="card">
        <div class="title">
          <h2>{words.profile}</h2>
          <small>
            {words.changedBy} <Time at={user.details?.changeDate} />
          </small>
        </div>
        <fieldset disabled={mayWrite === false}>
          <ProfileForm user={user} />
        </fieldset>
      </div>
      <Identity user={user} mayWrite={mayWrite === true} />
    </div>
  )
}

function ProfileForm({ user }: { user: UsersUser }) {
  const organization = useOrganization()
  const { userId = '' } = user
  const form = useForm<Profile>({
    opened: profileOf(user),
    sequence: user.details?.sequence ?? '',
    rules: rules as Rules,
    async send(changed, { sequence, key }) {
      const { gender, ...texts } = changed
      const request = { userId, ...texts, ...(gender !== undefined && { gender: gender as UsersGender }) }
      const method = 'roster.users.v1.UserService/UpdateHumanProfile'
      const { details } = await write(method, request, { organization, sequence, key })
      say(words.saved)
      void readAgain()
      return details?.sequence
    },
    theirs: () => readTheirs(userId, organization),
  })
  return (
    <FormView form={form} labels={labels}>
      <div class="both">
        <Field form={form} name="firstName" label={labels.firstName} />
        <Field form={form} name="lastName" label={labels.lastName} />
        <Field form={form} name="displayName" label={labels.displayName} />
        <Field form={form} name="nickName" label={labels.nickName} optional />
        <Field
          form={form}
          name="preferredLanguage"
          label={labels.preferredLanguage}
          hint={people.languageHint}
          optional
        />
        <Choice form={form} name="gender" label={labels.gender} options={genders} />
      </div>
    </FormView>
  )
}

function profileOf({ human }: UsersUser): Profile {
  const {
    firstName = '',
    lastName = '',
    displayName = '',
    nickName = '',
    preferredLanguage = '',
  } = human?.profile ?? {}
  const gender = human?.profile?.gender ?? 'GENDER_UNSPECIFIED'
  return { firstName, lastName, displayName, nickName, preferredLanguage, gender }
}

async function readTheirs(userId: string, organization: string): Promise<Theirs<Profile>> {
  const [{ user = {} }, { changes = [] }] = await Promise.all([
    call('roster.users.v1.UserService/GetUser', { userId }, { organization }),
    call('roster.users.v1.UserService/ListUserChanges', { userId, limit: 50 }, { organization }),
  ])
  const last = changes.find(({ type }) => type === 'roster.user.profile.changed.v1')
  return {
    values: profileOf(user),
    sequence: user.details?.sequence ?? '',
    by: last?.actor ?? '',
    at: last?.time ?? user.details?.changeDate ?? '',
  }
}
