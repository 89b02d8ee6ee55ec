import { keyId, decodeKey } from '#lib/encryption/keys'

/** Where a key rotation stands: a change of the root. */
export interface Rotation {
  /**
   * `known`: every service gets the new key, and the former one is in use. `used`: the new key is in use, and the
   * former one still decrypts what it encrypted. Without a rotation, there is one key.
   */
  step: 'known' | 'used'
  /** When that step was taken. */
  at: string
  /** Ids of the two keys. They reveal nothing about the keys. */
  former: string
  next: string
}

/** A step of a rotation, as it is taken. */
export interface Step {
  /** The new text of the root: keys, separated by commas. */
  root: string
  /** Undefined after the last step. */
  rotation: Rotation | undefined
  /** Whether the former key is lost by it. */
  loses: boolean
}

/** Milliseconds that a step must be old before the next one. The caller keys reach every process within a minute. */
const spread = 2 * 60_000

/**
 * The next step of a rotation. Throws an Error that says why it cannot be taken. `keepFor`: milliseconds for which the
 * former key must still open things. `makeKey` makes a key in base64. `isRolling`: services are replaced one by one, so
 * each must know the new key before anybody uses it.
 */
export function nextStep(
  root: string,
  rotation: Rotation | undefined,
  now: Date,
  { keepFor, makeKey, isRolling }: { keepFor: number; makeKey: () => string; isRolling: boolean },
): Step {
  const keys = root.split(',').map((text) => text.trim())
  const ids = keys.map((text) => keyId(decodeKey(text)))
  // A step that ended before it changed the root begins again.
  if (!rotation || ids.join() === rotation.former) {
    if (keys.length !== 1)
      throw new Error('The root has several keys, and nothing says why. Finish that change by hand (docs/decisions/9).')
    const made = makeKey()
    const begun = { at: now.toISOString(), former: ids[0]!, next: keyId(decodeKey(made)) }
    return isRolling
      ? { root: `${keys[0]},${made}`, rotation: { step: 'known', ...begun }, loses: false }
      : { root: `${made},${keys[0]}`, rotation: { step: 'used', ...begun }, loses: false }
  }
  const { step, former, next } = rotation
  const used: Rotation = { ...rotation, step: 'used', at: now.toISOString() }
  switch (`${step} ${ids.join()}`) {
    case `used ${next}`:
      return { root, rotation: undefined, loses: false }
    case `used ${former},${next}`:
      return { root: keys.toReversed().join(), rotation: used, loses: false }
    case `known ${former},${next}`:
      checkDue(rotation, spread, now)
      return { root: keys.toReversed().join(), rotation: used, loses: false }
    case `used ${next},${former}`:
      checkDue(rotation, keepFor, now)
      return { root: keys[0]!, rotation: undefined, loses: true }
    default:
      throw new Error('The root is not what this command left. It was changed meanwhile.')
  }
}

function checkDue({ at }: Rotation, after: number, now: Date): void {
  const due = new Date(Date.parse(at) + after)
  if (now < due) throw new Error(`The next step is due at ${due.toISOString()}.`)
}
