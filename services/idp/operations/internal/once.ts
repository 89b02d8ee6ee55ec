import { countUse } from '#lib/eventstore/count-use'
import type { Context } from '../../context.ts'

/** Whether what serves once comes for the first time. With the commit, so it is first once for all replicas. */
export async function isFirst(
  { sql }: Pick<Context, 'sql'>,
  idpId: string,
  { of, seconds }: { of: string; seconds: number },
): Promise<boolean> {
  return (await countUse(sql, { key: `idp token ${idpId} ${of}`, limits: [{ most: 1, seconds }] })) === undefined
}
