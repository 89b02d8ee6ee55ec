import type * as messages from '#gen/roster/events/v1/grants'
import { testEvents } from '#test/support/event-payloads'
import { evolve } from './vocabulary/evolve.ts'

type Events = { [Type in keyof typeof evolve]: Parameters<(typeof evolve)[Type]>[1] }

type Part = 'ApplicationOidc' | 'ApplicationApi' | 'ApplicationPublicKey' | 'ProviderTableNotedRow'

testEvents<Events, typeof messages, Part>('grants', Object.keys(evolve) as (keyof Events)[])
