import type { Aggregate } from '#lib/eventstore/aggregate'
import { evolveHistory } from '#lib/eventstore/history'
import type { Vocabulary } from '#lib/eventstore/vocabulary'
import { evolveStatus } from '../organization-status.ts'
import { nameKey, nameKind } from './idp-name.ts'
import { organizationType } from './organizations.ts'
import { project } from './projections.ts'
import { evolveIdp, type Idp } from './vocabulary.ts'

/** The service's knowledge of its aggregates. */
export const model: Vocabulary = {
  evolve: { idp: evolveIdp, [organizationType]: evolveStatus, history: evolveHistory },
  project,
  projections: [{ table: 'idps', type: 'idp', key: ['idp_id'] }],
  keys: ({ type, organizationId, state }) => {
    const idp = state as Aggregate<Idp>['state']
    return type === 'idp' && idp && !idp.removed ? [nameKey(organizationId, idp.name)] : []
  },
  keyKinds: { [nameKind]: 'idp' },
}
