/** Passwords, and a hash, that stand in the documents of this project, or that everybody tries first. */
const known = new Set([
  'admin',
  'broker',
  'changeme',
  'demo',
  'password',
  'purser',
  'secret',
  'correct horse battery staple',
  'scrypt$32768$8$1$UKKiw4_UGRoyTnEhPfQWNQ$X4f8BkXtWhiJSKZbsdPPY8rEsYwVBZwXECmm6P5edyQ',
])

export function isKnownPassword(text: string | undefined): boolean {
  return text !== undefined && (known.has(text) || known.has(text.toLowerCase()))
}
