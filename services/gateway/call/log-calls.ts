import type { Setting } from '#lib/config/read-config'

/** The setting of the share of answered calls that the log has. A call that fails is always there. */
export const loggedCalls: Setting<number> = {
  read(text) {
    if (text === 'all') return 1
    if (text === 'errors') return 0
    const percent = Number(/^(\d+(?:\.\d+)?)%$/.exec(text)?.[1])
    if (!(percent >= 0 && percent <= 100)) throw new Error('is none of all, errors, and a share such as 1%')
    return percent / 100
  },
  default: 1,
  accepts: '`all`, `errors`, or a share such as `1%`',
}
