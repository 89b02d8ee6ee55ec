import type * as messages from '#gen/roster/events/v1/idp'
import { testEvents } from '#test/support/event-payloads'
import type { OrganizationStatusEvent } from '../organization-status.ts'
import { organizationType } from './organizations.ts'
import type { IdpEvent } from './vocabulary.ts'

type Events = { idp: IdpEvent; [organizationType]: OrganizationStatusEvent }
type Part = 'IdpOidc' | 'IdpJwt' | 'IdpOauth' | 'IdpSaml' | 'IdpLdap'

testEvents<Events, typeof messages, Part>('idp', ['idp', organizationType])
