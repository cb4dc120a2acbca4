import { readAnswer } from '../../api/answer.js';
import { ApiError } from '../../api/errors.js';
import { type Id, idText, readable } from '../../api/schema.js';
import { nomenclature, nomenclatureItem } from '../../api/v2/operations/nomenclature.js';
import type { VocabularyItem } from '../../domain/vocabulary.js';

/** The items of one list of a vocabulary; one without an ID can be neither named nor sent. */
export function readVocabularyList(body: Buffer): readonly VocabularyItem[] | ApiError {
  try {
    const items = readAnswer(nomenclature.nomenclature, body) as readonly unknown[];
    return readable(items, nomenclatureItem).flatMap(({ id, parents, name, has_children, active }) =>
      id === null || id === undefined
        ? []
        : [
            {
              id: idText(id as Id),
              parents: parents === null || parents === undefined ? null : String(parents),
              name: name ?? null,
              hasChildren: has_children ?? null,
              active: active ?? null,
            },
          ],
    );
  } catch (error) {
    if (error instanceof ApiError) return error;
    throw error;
  }
}
