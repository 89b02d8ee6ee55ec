import { getOption, toJson } from '@bufbuild/protobuf'
import { registry } from '#lib/registry'

/** How many characters a password may have: the rule of AddHumanUser. */
export function passwordLengths(): { passwordMin: number; passwordMax: number } {
  const { password } = registry.getMessage('roster.users.v1.AddHumanUserRequest')!.field
  const extension = registry.getExtension('buf.validate.field')!
  const rules = toJson(extension.message!, getOption(password!, extension) as never, { registry })
  const { minLen, maxLen } = (rules as { string: { minLen: string; maxLen: string } }).string
  return { passwordMin: Number(minLen), passwordMax: Number(maxLen) }
}
