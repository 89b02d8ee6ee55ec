import { fromJson } from '@bufbuild/protobuf'
import { AnySchema } from '@bufbuild/protobuf/wkt'
import { Status } from '#gen/google/rpc/status'
import { statusToJson as rosterStatusToJson, toStatus as toRosterStatus } from '../../../lib/status.ts'
import { registry } from './registry.ts'
import { suiteCall } from './suite-call.ts'

export * from '../../../lib/status.ts'

// The suite counts the details. So those that Roster adds to each error are left out.
export const toStatus: typeof toRosterStatus = (error) => {
  const details = suiteCall().details.map((detail) => {
    const { typeUrl, value } = fromJson(AnySchema, detail, { registry })
    return { typeUrl, value: Buffer.from(value) }
  })
  return { ...toRosterStatus(error), details }
}

export const encodeStatus: typeof import('../../../lib/status.ts').encodeStatus = (error) =>
  Status.encode(toStatus(error)).finish()

export const statusToJson: typeof rosterStatusToJson = (error) => ({
  ...rosterStatusToJson(error),
  details: suiteCall().details as ReturnType<typeof rosterStatusToJson>['details'],
})
