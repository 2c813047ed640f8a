import { file, flag, secretText, text } from '../shape/fields.ts'
import { fallback, list, object, optional, section, unique } from '../shape/shape.ts'
import { isLabel, readKey } from '../store/keyring.ts'

const encryptionKey = (doc: string) =>
  secretText({
    rule: '32 bytes as base64, such as "openssl rand -base64 32" makes',
    allows: key => readKey(key) !== undefined,
    doc,
  })

const keyLabel = (doc: string) =>
  text({ rule: 'letters, digits and . _ -, at most 64, a letter or digit first', allows: isLabel, doc })

/** What a single key is called, which nobody gives a name. */
export const defaultKeyLabel = 'default'

const keySource = 'needs exactly one of key, file and command'

/** The keys that values in the ledger are encrypted with. */
export const encryption = section(
  {
    key: optional(
      encryptionKey(
        'a key that values in the ledger are encrypted with, called `default`: 32 bytes as base64 (`openssl rand -base64 32`)',
      ),
    ),
    keys: fallback(
      list(
        object(
          {
            label: keyLabel('its name, which stands beside every value that it encrypts: it never changes'),
            key: optional(encryptionKey('the key itself; better a placeholder')),
            file: optional(file('a file with the key, which only its owner and group may read')),
            command: optional(
              list(text(), {
                rule: 'a program and its arguments, as a list',
                doc: 'a program that prints the key, such as the client of a key management service; it is run without a shell, when the broker starts',
              }),
            ),
          },
          {
            rules: [
              given =>
                ['key', 'file', 'command'].filter(source => source in given).length !== 1 && { error: keySource },
            ],
          },
        ),
        {
          rules: [
            unique(({ label }) => label, 'label', 'it is the label of a key above; give each a label of its own'),
          ],
          doc: 'all keys that values may be encrypted with; the first one is for new values',
        },
      ),
      [],
    ),
    current: optional(
      keyLabel(
        'the label of the key for new values; without it the first of `encryption.keys`, or else `encryption.key`',
      ),
    ),
    required: fallback(
      flag('a broker without a key refuses to start on PostgreSQL and MongoDB; `false` keeps values there in clear'),
      true,
    ),
  },
  {
    rules: [
      ({ key, keys = [], current }) =>
        current !== undefined &&
        !(key !== undefined && current === defaultKeyLabel) &&
        !keys.some(each => each?.label === current) && { path: ['current'], error: 'is not the label of a key' },
      ({ key, keys = [] }) =>
        key !== undefined &&
        keys.some(each => each?.label === defaultKeyLabel) && {
          path: ['key'],
          error: `is called ${defaultKeyLabel}, as one of encryption.keys is: leave one of them out`,
        },
    ],
  },
)
